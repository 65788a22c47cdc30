// log Gamma(x) for x > 0, from several threads at once: lgamma writes the sign to a variable that
// all of them share.
#pragma once

#include <math.h>

namespace saltus {

inline double log_gamma(double x) {
  int sign = 0;
  return ::lgamma_r(x, &sign);
}

}  // namespace saltus
