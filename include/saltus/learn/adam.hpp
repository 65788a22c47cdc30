// Adam: Kingma & Ba, "Adam: a method for stochastic optimization", ICLR 2015. With g the gradient
// of a loss and all of it by entry,
//
//   m <- beta1 m + (1 - beta1) g,   v <- beta2 v + (1 - beta2) g^2,
//   parameter <- parameter - rate / (1 - beta1^t) * m / (sqrt(v / (1 - beta2^t)) + epsilon).
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "saltus/core/bytes.hpp"

namespace saltus {

struct AdamOptions {
  double rate = 1e-3, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;

  // Of step t, counted from 1: the factor of m, and that of sqrt(v), in the formula above.
  double corrected_rate(double at_rate, std::uint64_t t) const {
    return at_rate / (1 - std::pow(beta1, static_cast<double>(t)));
  }
  double root_factor(std::uint64_t t) const {
    return 1 / std::sqrt(1 - std::pow(beta2, static_cast<double>(t)));
  }
};

class Adam {
 public:
  // Throws UsageError for options that make no sense.
  Adam(std::size_t parameters, const AdamOptions& options);

  // One step down the gradient, at the options' rate or at another.
  void step(std::span<float> parameters, std::span<const float> gradient) {
    step(parameters, gradient, options_.rate);
  }
  void step(std::span<float> parameters, std::span<const float> gradient, double rate);
  std::uint64_t steps() const { return steps_; }

  void save(ByteWriter& out) const;
  void restore(ByteReader& in);

 private:
  AdamOptions options_;
  std::uint64_t steps_ = 0;
  std::vector<float> mean_, square_;  // m and v
};

}  // namespace saltus
