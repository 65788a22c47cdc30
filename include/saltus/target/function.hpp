// A target from any callable that gives log p and its gradient.
//
//   Function target(Domain::binary(10), [](std::span<const double> v, std::span<double> gradient) {
//     ...
//     return logp;
//   });
//
// v holds the values of the coordinates (-1/+1 for spins; the level's index for categorical ones).
// `gradient` is empty when it is not wanted; otherwise every entry must be written: one per
// coordinate, or, for a categorical domain, one per coordinate and level (the derivative with
// respect to the one-hot entries). On a two-level domain, samplers that work on a relaxation give
// values between the levels too. Several threads call the function at once.
#pragma once

#include <functional>
#include <span>

#include "saltus/target/target.hpp"

namespace saltus {

class Function final : public Target, public Relaxation {
 public:
  using Callable = std::function<double(std::span<const double> v, std::span<double> gradient)>;

  Function(Domain domain, Callable callable, std::string name = "function")
      : domain_(std::move(domain)), callable_(std::move(callable)), name_(std::move(name)) {}

  std::string name() const override { return name_; }
  const Domain& domain() const override { return domain_; }
  void evaluate(const At&, Rows<const Symbol> x, double* logp, Rows<float> score) const override;
  void evaluate_exact(const At&, Rows<const Symbol> x, double* logp,
                      Rows<double> score) const override;

  const Relaxation* relaxation() const override { return domain_.two_level() ? this : nullptr; }
  void evaluate_relaxed(const At& at, Rows<const float> v, double* logp,
                        Rows<float> gradient) const override;

 private:
  template <class X, class T>
  void evaluate_rows(const At& at, Rows<const X> x, double* logp, Rows<T> score) const;

  Domain domain_;
  Callable callable_;
  std::string name_;
};

}  // namespace saltus
