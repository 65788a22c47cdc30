// Samplers under a constraint that propose a set of flips from the score and test it: what they
// share. One evaluation a step.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "saltus/sampler/sampler.hpp"
#include "saltus/target/constraint.hpp"

namespace saltus {

// What a flip of each coordinate changes log p by, as the score estimates it.
template <class T>
void estimated_changes(const Domain& domain, const Symbol* x, const T* score,
                       std::span<double> out) {
  const double spacing = domain.spacing();
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = (x[i] ? -spacing : spacing) * static_cast<double>(score[i]);
  }
}

class FlipKernel : public Sampler, public Enumerable {
 public:
  bool reversible() const override { return true; }
  bool keeps_constraint() const override { return true; }
  std::string missing(const Target& target) const override;
  Needs needs(const Target& target) const override { return {true, true, target.cheap_near()}; }
  bool accumulates_rounding(const Target& target) const override { return target.cheap_near(); }
  void step(const Target& target, Tile& tile, Workspace& work,
            std::span<StepInfo> info) const override;
  const Enumerable* enumerable() const override { return this; }

 protected:
  explicit FlipKernel(Constraint constraint) : constraint_(std::move(constraint)) {}
  const Constraint& constraint() const { return constraint_; }

 private:
  // Writes flips of x, whose estimated changes are d (to be overwritten), and their number.
  // Returns the log of the probability to propose them in this way. Scratch slots 0, 6 and 7 are
  // taken.
  virtual double propose(const Symbol* x, std::span<double> d, const Stream& stream, Scratch& room,
                         std::int32_t* flips, std::uint32_t& count) const = 0;
  // The log of the probability to go the same way back from y, whose estimated changes are d.
  virtual double log_back(const Symbol* y, std::span<double> d, std::span<const std::int32_t> flips,
                          Scratch& room) const = 0;

  Constraint constraint_;
};

// Adds to row `from` of a matrix a proposal of state `to` that has probability exp(log_q), and
// whose way back has exp(log_back), after the Metropolis test. What is missing at the end stays.
void add_tested(const StateTable& table, std::size_t from, std::size_t to, double log_q,
                double log_back, double* row, double& acceptance);
// Gives every state what its row lacks of 1. States of probability 0 stay.
void add_stays(const StateTable& table, Rows<double> matrix, std::span<double> acceptance);
// Where two states of a table differ: those that have a 1 in `from` first.
std::vector<std::int32_t> flips_between(const StateTable& table, std::size_t from, std::size_t to);

}  // namespace saltus
