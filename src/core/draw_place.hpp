// Draws from a list of weights, or of their logarithms.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

namespace saltus {

// A place with a probability proportional to its weight, where `part` is uniform between 0 and the
// sum of the weights. One of these is above 0.
inline std::size_t draw_place(std::span<const double> weights, double part) {
  std::size_t k = 0;
  while (k + 1 < weights.size() && (part -= weights[k]) >= 0) ++k;
  while (k > 0 && !(weights[k] > 0)) --k;  // rounding at the end
  return k;
}

// Numbers become exp(v - max); returns their sum.
inline double take_exp(std::span<double> v) {
  const double top = *std::ranges::max_element(v);
  double sum = 0;
  for (double& w : v) sum += w = std::exp(w - top);
  return sum;
}

// A place with a probability proportional to exp of the number there, which becomes exp(v - max).
inline std::size_t draw_by_logs(std::span<double> v, double u) {
  const double sum = take_exp(v);
  return draw_place(v, u * sum);
}

// A number in (0, 1) from the upper 31 bits of a word.
inline double uniform_of_word(std::uint32_t word) {
  return ((word >> 1) + 0.5) * 0x1p-31;
}

}  // namespace saltus
