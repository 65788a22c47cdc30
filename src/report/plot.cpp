#include "report/plot.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace saltus::report {
namespace {

double quantile(std::span<const double> sorted, double p) {
  const double at = p * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  if (below + 1 >= sorted.size()) return sorted.back();
  return std::lerp(sorted[below], sorted[below + 1], at - static_cast<double>(below));
}

// Of one piece: where its least and its greatest y stand, in order. Its first entry where no y is a
// number.
void append_extremes(const std::vector<double>& y, std::size_t first, std::size_t last,
                     std::vector<std::size_t>& kept) {
  std::size_t low = first, high = first;
  for (std::size_t i = first; i < last; ++i) {
    if (std::isnan(y[i])) continue;
    if (std::isnan(y[low]) || y[i] < y[low]) low = i;
    if (std::isnan(y[high]) || y[i] > y[high]) high = i;
  }
  kept.push_back(std::min(low, high));
  if (low != high) kept.push_back(std::max(low, high));
}

void keep(std::vector<double>& values, const std::vector<std::size_t>& kept) {
  if (values.empty()) return;
  std::vector<double> few;
  few.reserve(kept.size());
  for (const std::size_t i : kept) few.push_back(values[i]);
  values = std::move(few);
}

}  // namespace

Box box_of(std::vector<double> values, std::size_t most_outliers) {
  std::erase_if(values, [](double v) { return !std::isfinite(v); });
  if (values.empty()) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    return {nan, nan, nan, nan, nan, {}};
  }
  std::sort(values.begin(), values.end());
  Box box;
  box.q1 = quantile(values, 0.25);
  box.median = quantile(values, 0.5);
  box.q3 = quantile(values, 0.75);
  const double reach = 1.5 * (box.q3 - box.q1);
  // A whisker never ends inside the box, although with few values the last one in reach may.
  const auto first = std::lower_bound(values.begin(), values.end(), box.q1 - reach);
  const auto last = std::upper_bound(values.begin(), values.end(), box.q3 + reach);
  box.low = std::min(*first, box.q1);
  box.high = std::max(*(last - 1), box.q3);
  std::vector<double> outliers(values.begin(), first);
  outliers.insert(outliers.end(), last, values.end());
  for (const std::size_t i : evenly_spread(outliers.size(), most_outliers)) {
    box.outliers.push_back(outliers[i]);
  }
  return box;
}

void thin(Series& series, std::size_t limit) {
  const std::size_t n = series.y.size(), pieces = std::max<std::size_t>(1, limit / 2);
  if (n <= limit || n <= 2) return;
  std::vector<std::size_t> kept = {0};
  for (std::size_t p = 0; p < pieces; ++p) {
    const std::size_t first = 1 + (n - 2) * p / pieces, last = 1 + (n - 2) * (p + 1) / pieces;
    if (first < last) append_extremes(series.y, first, last, kept);
  }
  kept.push_back(n - 1);
  for (auto* values : {&series.x, &series.y, &series.low, &series.high}) keep(*values, kept);
}

std::vector<std::size_t> evenly_spread(std::size_t n, std::size_t limit) {
  const std::size_t count = std::min(n, limit);
  std::vector<std::size_t> indices(count);
  for (std::size_t k = 0; k < count; ++k) {
    indices[k] = count == 1 ? 0 : k * (n - 1) / (count - 1);
  }
  return indices;
}

}  // namespace saltus::report
