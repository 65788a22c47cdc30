// Drawing a piece by the logarithms of weights.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>

#include "saltus/core/rows.hpp"

namespace saltus {

// A level with probability proportional to exp(log_weight), given u uniform on (0, 1).
inline Symbol draw_level(std::span<const float> log_weight, double u) {
  const double top{*std::max_element(log_weight.begin(), log_weight.end())};
  double sum = 0;
  for (const float v : log_weight) sum += std::exp(double{v} - top);
  double left = u * sum;
  std::size_t chosen = 0;  // the last one with any weight, where rounding overshoots
  for (std::size_t k = 0; k < log_weight.size(); ++k) {
    const double weight = std::exp(double{log_weight[k]} - top);
    if (!(weight > 0)) continue;
    chosen = k;
    if (left < weight) break;
    left -= weight;
  }
  return static_cast<Symbol>(chosen);
}

}  // namespace saltus
