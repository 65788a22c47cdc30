// What there is to say about the draws of a run: mean, error, effective sample size and R-hat of
// every coordinate.
#pragma once

#include <vector>

#include "saltus/run/draws.hpp"

namespace saltus {

struct CoordinateSummary {
  double mean = 0, sd = 0, mcse = 0;
  double ess_bulk = 0, ess_tail = 0, rhat = 0;  // NaN for a coordinate that never changed
};

// Of every column of the draws, in values (-1/+1 for spins). Reads the draws in blocks, once or a
// few times, with an amount of memory that does not depend on their number; only columns that mix
// so slowly that their correlations need Fourier transforms are held, a few at a time. tails =
// false leaves ess_tail NaN, which saves time where a coordinate has more than two levels.
std::vector<CoordinateSummary> summarise(const Draws& draws, bool tails, int threads = 0);

// Least and median of the numbers that are not NaN; NaN when there are none.
double least(std::vector<double> values);
double median(std::vector<double> values);
double largest(std::vector<double> values);

}  // namespace saltus
