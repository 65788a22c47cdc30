#include "diagnose/columns/normal_quantile.hpp"

#include <cmath>
#include <limits>
#include <numbers>

namespace saltus {
namespace {

// Abramowitz and Stegun (1964), 26.2.23, for p <= 1/2; off by at most 4.5e-4.
double rough_lower_quantile(double p) {
  const double t = std::sqrt(-2 * std::log(p));
  const double numerator = 2.515517 + t * (0.802853 + t * 0.010328);
  const double denominator = 1 + t * (1.432788 + t * (0.189269 + t * 0.001308));
  return numerator / denominator - t;
}

// One step of Halley's method on Phi(z) - p, whose derivatives are phi(z) and -z phi(z). The error
// is cubed. erfc keeps its relative accuracy in the lower tail, so z does too.
double halley_step(double z, double p) {
  const double cdf = std::erfc(-z / std::numbers::sqrt2) / 2;
  const double density = std::exp(-z * z / 2) * std::numbers::inv_sqrtpi / std::numbers::sqrt2;
  const double u = (cdf - p) / density;
  return z - u / (1 + z * u / 2);
}

}  // namespace

double normal_quantile(double p) {
  if (p > 0.5) return -normal_quantile(1 - p);
  if (p == 0) return -std::numeric_limits<double>::infinity();
  // 4.5e-4 cubed is about 1e-10, and that cubed is below the rounding error.
  return halley_step(halley_step(rough_lower_quantile(p), p), p);
}

}  // namespace saltus
