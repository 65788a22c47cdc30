#include "diagnose/columns/ranks.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <numeric>
#include <utility>

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

CountedValues count_sorted(std::span<const double> x) {
  CountedValues counted;
  counted.total = x.size();
  for (const double value : x) {
    if (counted.values.empty() || counted.values.back() != value) {
      counted.values.push_back(value);
      counted.counts.push_back(0);
    }
    ++counted.counts.back();
  }
  return counted;
}

CountedValues merged(const CountedValues& a, const CountedValues& b) {
  CountedValues sum;
  sum.total = a.total + b.total;
  std::size_t i = 0, j = 0;
  while (i < a.values.size() || j < b.values.size()) {
    const bool a_left = i < a.values.size(), b_left = j < b.values.size();
    const double value = a_left && b_left ? std::min(a.values[i], b.values[j])
                         : a_left         ? a.values[i]
                                          : b.values[j];
    std::size_t count = 0;
    if (a_left && a.values[i] == value) count += a.counts[i++];
    if (b_left && b.values[j] == value) count += b.counts[j++];
    sum.values.push_back(value);
    sum.counts.push_back(count);
  }
  return sum;
}

}  // namespace

double normal_quantile(double p) {
  if (p > 0.5) return -normal_quantile(1 - p);
  if (p == 0) return -std::numeric_limits<double>::infinity();
  // 4.5e-4 cubed is about 1e-10, and that cubed is below the rounding error.
  return halley_step(halley_step(rough_lower_quantile(p), p), p);
}

double CountedValues::order_statistic(std::size_t index) const {
  if (!finite) return std::numeric_limits<double>::quiet_NaN();
  std::size_t level = 0;
  for (std::size_t before = counts[0]; before <= index; before += counts[level]) ++level;
  return values[level];
}

double CountedValues::median() const {
  return (order_statistic((total - 1) / 2) + order_statistic(total / 2)) / 2;
}

CountedValues count_values(const Sequences& sequences) {
  CountedValues all;
  sequences.for_each([&](std::span<double> x) {
    if (!std::all_of(x.begin(), x.end(), [](double value) { return std::isfinite(value); })) {
      all.finite = false;
    }
    if (!all.finite) return;
    std::sort(x.begin(), x.end());
    all = merged(all, count_sorted(x));
  });
  return all;
}

std::vector<double> normal_scores(std::span<const std::size_t> counts) {
  const std::size_t draws = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
  std::vector<double> scores;
  scores.reserve(counts.size());
  std::size_t below = 0;
  for (const std::size_t count : counts) {
    const double rank = static_cast<double>(below) + (static_cast<double>(count) + 1) / 2;
    scores.push_back(normal_quantile((rank - 0.375) / (static_cast<double>(draws) + 0.25)));
    below += count;
  }
  return scores;
}

Sequences rank_normalised(const Sequences& sequences) {
  CountedValues counted = count_values(sequences);
  if (!counted.finite) {
    return changed(sequences, [](std::span<double> x) {
      std::fill(x.begin(), x.end(), std::numeric_limits<double>::quiet_NaN());
    });
  }
  // Shared, because functions are copied and the table of a continuous quantity is large.
  const auto table = std::make_shared<const std::pair<std::vector<double>, std::vector<double>>>(
      std::move(counted.values), normal_scores(counted.counts));
  return changed(sequences, [table](std::span<double> x) {
    const auto& [values, scores] = *table;
    for (double& draw : x) {
      const auto at = std::lower_bound(values.begin(), values.end(), draw);
      draw = scores[static_cast<std::size_t>(at - values.begin())];
    }
  });
}

}  // namespace saltus
