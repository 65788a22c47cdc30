// An Ising model with all couplings that learns: U(s) = s'Gs (+ h's), dU/dG = s s', dU/dh = s.
//
// G is symmetric and its diagonal is 0. A G that is not symmetric would learn the same
// J = (G + G')/2: gradients, and so Adam's steps, are the same for G_ij and G_ji.
#pragma once

#include <vector>

#include "saltus/learn/trainable.hpp"
#include "saltus/target/quadratic.hpp"

namespace saltus {

class TrainableIsing final : public Trainable {
 public:
  struct Start {
    double deviation = 0.01;  // G = (A + A')/2, A_ij normal with mean 0
    std::uint64_t seed = 1;
  };
  // fields: h is learned too; otherwise there is none.
  TrainableIsing(int spins, bool fields, const Start& start);

  const Quadratic& target() const override { return *quadratic_; }
  // G by rows, then h.
  std::span<float> parameters() override { return parameters_; }
  void parameters_changed() override;
  std::size_t weights() const override {
    return static_cast<std::size_t>(spins_) * static_cast<std::size_t>(spins_);
  }
  double contrast(Rows<const Symbol> data, Rows<const Symbol> samples, std::span<float> gradient,
                  const Workers& workers) override;
  void write(const std::filesystem::path& path) const override;

  // G, and h, which is empty where there is none.
  std::span<const float> couplings() const { return std::span(parameters_).first(weights()); }
  std::span<const float> fields() const { return std::span(parameters_).subspan(weights()); }

 private:
  void load(Rows<const Symbol> rows, int at);
  void mirror(std::span<float> gradient) const;

  int spins_;
  std::vector<float> parameters_, symmetric_;  // symmetric_: G + G'
  std::unique_ptr<Quadratic> quadratic_;
  RowBuffer<float> values_;    // rows of data, then samples, as -1 and +1
  RowBuffer<float> products_;  // of some rows of s s', for each thread
};

}  // namespace saltus
