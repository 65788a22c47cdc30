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

// Of every column of the draws, in values (-1/+1 for spins). Reads the draws in groups of columns
// that fit into a few megabytes. tails = false leaves ess_tail NaN, which saves a third of the
// time.
std::vector<CoordinateSummary> summarise(const Draws& draws, bool tails, int threads = 0);

// Least and median of the numbers that are not NaN; NaN when there are none.
double least(std::vector<double> values);
double median(std::vector<double> values);
double largest(std::vector<double> values);

}  // namespace saltus
