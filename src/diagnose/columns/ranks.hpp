// How often each value occurs, and the ranks that follow from it: for a discrete quantity a few
// numbers, however many draws there are.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "diagnose/columns/sequences.hpp"

namespace saltus {

// The z with Phi(z) = p, accurate to about 1e-15 (relative in the tails); 0 and 1 give -+infinity.
double normal_quantile(double p);

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

// The scores of values in ascending order, given how often each occurs:
//   Phi^-1((r - 3/8) / (S + 1/4)), where r is the rank of a draw among all S, and equal draws share
// their average rank (Blom 1958; Vehtari et al. 2021).
std::vector<double> normal_scores(std::span<const std::size_t> counts);

// Replaces every draw by its score among the draws of all sequences. All become NaN if some draw is
// not finite.
Sequences rank_normalised(const Sequences& sequences);

}  // namespace saltus
