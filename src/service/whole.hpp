// What is known of the free coordinates of a model, in the layout of the whole model.
#pragma once

#include <memory>
#include <vector>

#include "saltus/diagnose/exact.hpp"
#include "saltus/exact.hpp"
#include "saltus/io/model_file.hpp"
#include "saltus/run/draws.hpp"

namespace saltus {

// Draws of the free coordinates with the given ones beside them. Their info is that of the whole
// model.
class DrawsWithGiven final : public Draws {
 public:
  DrawsWithGiven(std::shared_ptr<const Draws> free, const GivenValues& given)
      : free_(std::move(free)), given_(given) {}
  const DrawsInfo& info() const override { return free_->info(); }
  int chains() const override { return free_->chains(); }
  std::size_t draws() const override { return free_->draws(); }
  int dim() const override { return given_.domain().dim(); }
  void read_states(int chain, std::size_t first, Rows<Symbol> x) const override;
  void read_logp(int chain, std::size_t first, std::span<double> out) const override {
    free_->read_logp(chain, first, out);
  }
  void read_acceptance(int chain, std::size_t first, std::span<float> out) const override {
    free_->read_acceptance(chain, first, out);
  }

 private:
  std::shared_ptr<const Draws> free_;
  GivenValues given_;
};

// Numbers of free coordinates as those of the model; without given values, as they are.
std::vector<int> whole_columns(std::vector<int> free, const WholeModel* whole);

// Means of the values of free coordinates, with the values of the given ones between them.
std::vector<double> means_with_given(const std::vector<double>& free, const GivenValues& given);

// Probabilities of the levels of free coordinates, as Independent::with_probabilities takes them
// for `some`, from those of all.
std::vector<double> free_probabilities(const std::vector<double>& all, const Domain& some,
                                       const GivenValues& given);

// The exact answer of the free coordinates' law, of all coordinates.
ExactAnswer with_given(const ExactAnswer& free, const Target& target, const WholeModel& whole);
// The same by elimination: the given levels have probability 1.
EliminationAnswer with_given(const EliminationAnswer& free, const GivenValues& given);

}  // namespace saltus
