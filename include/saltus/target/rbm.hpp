// Restricted Boltzmann machine with the hidden units summed out:
//   logp(x) = sum_h softplus((W x + c)_h) + b'x,   x in {0, 1}^d,
//   score   = W' sigma(W x + c) + b.
#pragma once

#include <vector>

#include "saltus/target/target.hpp"

namespace saltus {

class Rbm final : public Target {
 public:
  // `weights` holds hidden rows of visible entries, one row after the other.
  Rbm(std::vector<double> weights, std::vector<double> visible_bias,
      std::vector<double> hidden_bias);

  std::string name() const override { return "rbm"; }
  const Domain& domain() const override { return domain_; }
  void evaluate(const At&, Rows<const Symbol> x, double* logp, Rows<float> score) const override;
  void evaluate_exact(const At&, Rows<const Symbol> x, double* logp,
                      Rows<double> score) const override;
  int preferred_tile() const override { return 64; }
  int hidden() const { return static_cast<int>(hidden_bias_.size()); }

 private:
  std::vector<double> weights_, visible_bias_, hidden_bias_;
  std::vector<float> weights_single_;
  Domain domain_;
};

}  // namespace saltus
