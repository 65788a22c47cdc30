#include "diagnose/columns/counted_values.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

namespace saltus {
namespace {

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

}  // namespace saltus
