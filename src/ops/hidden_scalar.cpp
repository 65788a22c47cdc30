// Hidden units: the specification.
#include "core/scalar_math.hpp"
#include "ops/passes.hpp"

namespace saltus::ops::scalar {

double activate(int n, const float* z, float* activation, bool want_softplus) {
  double sum = 0;
  for (int h = 0; h < n; ++h) {
    const double v = double{z[h]};
    if (want_softplus) sum += softplus(v);
    if (activation) activation[h] = static_cast<float>(sigmoid(v));
  }
  return sum;
}

double softplus_change(int n, const float* z, const float* w, float change) {
  double sum = 0;
  for (int h = 0; h < n; ++h) {
    const double v = double{z[h]};
    sum += softplus(v + double{change} * double{w[h]}) - softplus(v);
  }
  return sum;
}

}  // namespace saltus::ops::scalar
