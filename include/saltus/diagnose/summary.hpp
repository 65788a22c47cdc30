// What there is to say about the draws of a run: mean, error, effective sample size and R-hat of
// every coordinate; of unordered levels the probability of every class instead.
#pragma once

#include <vector>

#include "saltus/run/draws.hpp"

namespace saltus {

// A level without an order: the mean of its indicator, and what ess_mean, mcse_mean and rhat
// (chains.hpp) find in that. All but the probability are NaN where the indicator never changed.
struct ClassSummary {
  int level = 0;
  double probability = 0, mcse = 0, ess = 0, rhat = 0;
};

struct CoordinateSummary {
  double mean = 0, sd = 0, mcse = 0;
  double ess_bulk = 0, ess_tail = 0, rhat = 0;  // NaN for a coordinate that never changed
  // Where has_classes(): by level. With more than two of them, ess_bulk is the least and rhat the
  // largest of the classes, mcse and ess_tail are NaN, and mean and sd, those of the index, have no
  // meaning.
  std::vector<ClassSummary> classes = {};
};

// The draws have unordered levels, more than two of them at some coordinate. With two, the mean of
// the index is the probability of the second class, and all is as for ordered levels.
bool has_classes(const DrawsInfo& info);

// How many classes of a coordinate are summarised at most: all, or with more than 64 levels the ten
// most frequent ones, and fewer where there are millions of coordinates.
int most_classes(const DrawsInfo& info, int dim);

// Of every column of the draws, in values (-1/+1 for spins). Reads the draws in blocks, once or a
// few times, with an amount of memory that does not depend on their number; only columns that mix
// so slowly that their correlations need Fourier transforms are held, a few at a time. tails =
// false leaves ess_tail NaN, which saves time where a coordinate has more than two levels. Classes
// that never occur are listed with probability 0 as far as all classes are.
std::vector<CoordinateSummary> summarise(const Draws& draws, bool tails, int threads = 0);

// Least and median of the numbers that are not NaN; NaN when there are none.
double least(std::vector<double> values);
double median(std::vector<double> values);
double largest(std::vector<double> values);

}  // namespace saltus
