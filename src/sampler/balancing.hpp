// Weights of moves, in log space.
#pragma once

#include <algorithm>

#include "ops/scalar_math.hpp"
#include "saltus/sampler/balancing.hpp"
#include "sampler/settings.hpp"

namespace saltus {

// log g(e^d): sqrt(t), t / (1 + t), min(1, t), max(1, t).
inline double log_weight(Balancing balancing, double d) {
  switch (balancing) {
    case Balancing::sqrt:
      return d / 2;
    case Balancing::ratio:
      return -softplus(-d);
    case Balancing::min:
      return std::min(d, 0.0);
    case Balancing::max:
      return std::max(d, 0.0);
  }
  return d / 2;
}

inline Balancing balancing_setting(const Settings& settings) {
  return static_cast<Balancing>(
      choice_setting(settings, "balancing", {"sqrt", "ratio", "min", "max"}));
}

}  // namespace saltus
