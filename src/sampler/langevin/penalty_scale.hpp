// The scale on which the step size of a Langevin proposal is tuned. Proposed changes grow like
// exp(-penalty) when the penalty is large, so there the penalty itself is the natural scale; when
// it is small, its logarithm is. The two join smoothly at 1.
#pragma once

#include <cmath>

namespace saltus {

inline double scale_of_penalty(double c) {
  return c >= 1 ? 1 - c : -std::log(c);
}
inline double penalty_of_scale(double z) {
  return z <= 0 ? 1 - z : std::exp(-z);
}

}  // namespace saltus
