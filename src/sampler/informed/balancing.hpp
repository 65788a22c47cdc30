// Balancing functions in log space, and as a setting.
#pragma once

#include <string>

#include "core/scalar_math.hpp"
#include "saltus/sampler/balancing.hpp"
#include "saltus/sampler/settings.hpp"

namespace saltus {

// log g(exp(d))
inline double log_weight(Balancing balancing, double d) {
  switch (balancing) {
    case Balancing::ratio:
      return -softplus(-d);
    case Balancing::min:
      return d > 0 ? 0.0 : d;
    case Balancing::max:
      return d < 0 ? 0.0 : d;
    case Balancing::sqrt:
      break;
  }
  return d / 2;
}

inline const std::vector<std::string>& balancing_names() {
  static const std::vector<std::string> names = {"sqrt", "ratio", "min", "max"};
  return names;
}

inline std::string balancing_name(Balancing balancing) {
  return balancing_names()[static_cast<std::size_t>(balancing)];
}

inline Balancing balancing_setting(const Settings& settings) {
  return static_cast<Balancing>(choice_setting(settings, "balancing", balancing_names()));
}

}  // namespace saltus
