// How often each value occurs: all that ranks and quantiles need to know of the draws. For a
// discrete quantity that is a few numbers, however many draws there are.
#pragma once

#include <cstddef>
#include <vector>

#include "diagnose/columns/sequences.hpp"

namespace saltus {

struct CountedValues {
  std::vector<double> values;  // distinct, ascending
  std::vector<std::size_t> counts;
  std::size_t total = 0;
  bool finite = true;  // false if some draw is not; then the rest means nothing

  // The draw at position `index` (from 0) of all draws in ascending order; NaN unless finite.
  double order_statistic(std::size_t index) const;

  // The mean of the two middle draws if their number is even.
  double median() const;
};

CountedValues count_values(const Sequences& sequences);

}  // namespace saltus
