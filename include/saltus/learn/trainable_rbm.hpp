// A restricted Boltzmann machine that learns. With F(v) = sum softplus(W v + c) + b'v, the logp of
// its visible units,
//
//   dF/dW = sigma(W v + c) v',   dF/db = v,   dF/dc = sigma(W v + c).
#pragma once

#include <vector>

#include "saltus/learn/trainable.hpp"
#include "saltus/target/rbm.hpp"

namespace saltus {

class TrainableRbm final : public Trainable {
 public:
  // Before learning: weights uniform in +-1/sqrt(visible units), hidden biases 0, visible biases
  // such that the units alone would have the data's means, clipped to [0.01, 0.99].
  TrainableRbm(Rows<const Symbol> data, int hidden, std::uint64_t seed);

  const Rbm& target() const override { return rbm_; }
  // W by hidden units, b, c.
  std::span<float> parameters() override { return parameters_; }
  void parameters_changed() override;
  std::size_t weights() const override;
  double contrast(Rows<const Symbol> data, Rows<const Symbol> samples, std::span<float> gradient,
                  const Workers& workers) override;
  void write(const std::filesystem::path& path) const override;

 private:
  struct Parts {
    std::span<const float> weights, visible_bias, hidden_bias;
  };
  Parts parts(std::span<const float> all) const;
  void load(Rows<const Symbol> x, int at);
  void activate(Rows<const Symbol> x, int at, double factor, Scratch& scratch);
  void activate_all(Rows<const Symbol> data, Rows<const Symbol> samples, const Workers& workers);

  int visible_, hidden_;
  std::vector<float> parameters_;
  Rbm rbm_;
  // Rows of data, then samples: the units' values; sigma(W v + c) and logp, divided by the number
  // of rows of the data, or by minus that of the samples.
  RowBuffer<float> values_, activations_;
  std::vector<double> logp_;
  std::vector<Scratch> scratch_;
};

}  // namespace saltus
