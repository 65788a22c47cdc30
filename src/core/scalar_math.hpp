// The two functions on which exact acceptance rests, without overflow and without epsilons.
#pragma once

#include <cmath>

#include "saltus/core/both.hpp"

namespace saltus {

// log(1 + exp(z))
inline SALTUS_BOTH double softplus(double z) {
  return (z > 0 ? z : 0.0) + std::log1p(std::exp(-std::abs(z)));
}

// 1 / (1 + exp(-z))
inline SALTUS_BOTH double sigmoid(double z) {
  const double e = std::exp(-std::abs(z));
  return (z >= 0 ? 1.0 : e) / (1.0 + e);
}

}  // namespace saltus
