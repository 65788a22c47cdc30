#include "saltus/anneal/time_to_solution.hpp"

#include <cmath>

#include "core/log_gamma.hpp"
#include "saltus/core/error.hpp"

namespace saltus {
namespace {

// The continued fraction of the incomplete beta function, by Lentz's method; it converges quickly
// for x < (a + 1) / (a + b + 2).
double beta_fraction(double x, double a, double b) {
  constexpr double kTiny = 1e-300, kPrecise = 1e-15;
  constexpr int kMostTerms = 10'000;
  const auto away_from_zero = [](double v) { return std::abs(v) < kTiny ? kTiny : v; };
  double c = 1, d = 1 / away_from_zero(1 - (a + b) * x / (a + 1)), fraction = d;
  for (int m = 1; m < kMostTerms; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    double factor = 1;
    for (const double term : {even, odd}) {
      d = 1 / away_from_zero(1 + term * d);
      c = away_from_zero(1 + term / c);
      factor = c * d;
      fraction *= factor;
    }
    if (std::abs(factor - 1) < kPrecise) break;
  }
  return fraction;
}

// P(X < x) for X of law Beta(a, b).
double beta_probability(double x, double a, double b) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - beta_probability(1 - x, b, a);
  const double log_front =
      log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * std::log(x) + b * std::log1p(-x);
  return std::exp(log_front) * beta_fraction(x, a, b) / a;
}

}  // namespace

double beta_quantile(double probability, double a, double b) {
  double low = 0, high = 1;
  for (int halvings = 0; halvings < 200 && low < high; ++halvings) {
    const double middle = low + (high - low) / 2;
    if (middle == low || middle == high) break;
    (beta_probability(middle, a, b) < probability ? low : high) = middle;
  }
  return low + (high - low) / 2;
}

SuccessRate success_rate(int successes, int restarts) {
  if (restarts < 1 || successes < 0 || successes > restarts) {
    throw UsageError("a success rate needs restarts, and no more successes than these");
  }
  const double a = successes + 0.5, b = restarts - successes + 0.5;
  return {static_cast<double>(successes) / restarts, beta_quantile(0.025, a, b),
          beta_quantile(0.975, a, b)};
}

double restarts_to_solution(double success) {
  if (success >= 1) return 1;
  if (success <= 0) return INFINITY;
  return std::fmax(1, std::log(0.01) / std::log1p(-success));
}

TimeToSolution time_to_solution(int successes, int restarts) {
  const SuccessRate rate = success_rate(successes, restarts);
  TimeToSolution time;
  time.low = restarts_to_solution(rate.high);
  if (successes == 0) return time;
  time.restarts = restarts_to_solution(rate.mean);
  time.high = restarts_to_solution(rate.low);
  if (successes == restarts) time.low = 1;
  return time;
}

}  // namespace saltus
