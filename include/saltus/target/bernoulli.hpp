// Independent bits: logp(x) = sum_i logit_i x_i, x in {0, 1}^d.
#pragma once

#include <vector>

#include "saltus/target/target.hpp"

namespace saltus {

class Bernoulli final : public Target {
 public:
  explicit Bernoulli(std::vector<double> logits);

  std::string name() const override { return "bernoulli"; }
  const Domain& domain() const override { return domain_; }
  void evaluate(const At&, Rows<const Symbol> x, double* logp, Rows<float> score) const override;
  void evaluate_exact(const At&, Rows<const Symbol> x, double* logp,
                      Rows<double> score) const override;

 private:
  template <class T>
  void evaluate_rows(Rows<const Symbol> x, double* logp, Rows<T> score) const;

  std::vector<double> logits_;
  Domain domain_;
};

}  // namespace saltus
