// Distances between an estimate and the exact answer. Both arguments must have the same length.
#pragma once

#include <cassert>
#include <cmath>
#include <functional>
#include <numeric>
#include <span>

namespace saltus {

// sqrt(mean_i (estimate_i - exact_i)^2); NaN for no entries at all.
inline double rmse(std::span<const double> estimate, std::span<const double> exact) {
  assert(estimate.size() == exact.size());
  const auto square = [](double a, double b) { return (a - b) * (a - b); };
  return std::sqrt(std::inner_product(estimate.begin(), estimate.end(), exact.begin(), 0.0,
                                      std::plus<>(), square) /
                   static_cast<double>(estimate.size()));
}

// sum_i |p_i - q_i|
inline double l1(std::span<const double> p, std::span<const double> q) {
  assert(p.size() == q.size());
  return std::inner_product(p.begin(), p.end(), q.begin(), 0.0, std::plus<>(),
                            [](double a, double b) { return std::abs(a - b); });
}

// Half the l1 distance: the largest difference of the probabilities that p and q give to one event.
inline double total_variation(std::span<const double> p, std::span<const double> q) {
  return l1(p, q) / 2;
}

}  // namespace saltus
