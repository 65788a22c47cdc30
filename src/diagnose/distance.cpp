#include "saltus/diagnose/distance.hpp"

#include <cassert>
#include <cmath>
#include <cstddef>

namespace saltus {

double rmse(std::span<const double> estimate, std::span<const double> exact) {
  assert(estimate.size() == exact.size());
  double sum = 0;
  for (std::size_t i = 0; i < estimate.size(); ++i) {
    const double error = estimate[i] - exact[i];
    sum += error * error;
  }
  return std::sqrt(sum / static_cast<double>(estimate.size()));
}

double l1(std::span<const double> p, std::span<const double> q) {
  assert(p.size() == q.size());
  double sum = 0;
  for (std::size_t i = 0; i < p.size(); ++i) sum += std::abs(p[i] - q[i]);
  return sum;
}

double total_variation(std::span<const double> p, std::span<const double> q) {
  return l1(p, q) / 2;
}

}  // namespace saltus
