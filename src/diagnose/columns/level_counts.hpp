// How often each level occurs in each half of each chain: all that the mean, the quantiles and
// R-hat of a discrete quantity need to know of the draws.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "diagnose/columns/ranks.hpp"
#include "diagnose/columns/sequences.hpp"
#include "saltus/core/rows.hpp"

namespace saltus {

class LevelCounts {
 public:
  LevelCounts(int halves, std::size_t levels);

  // All entries are below `levels`.
  void add(int half, std::span<const Symbol> x);
  // The middle draw of a chain of odd length, which is in neither half.
  void add_middle(Symbol x) { ++row(halves_)[x]; }

  int halves() const { return halves_; }
  std::size_t levels() const { return levels_; }
  std::span<const std::size_t> of(int half) const { return {&counts_[offset(half)], levels_}; }
  std::vector<std::size_t> of_halves() const { return sum_of_rows(halves_); }
  std::vector<std::size_t> of_all() const { return sum_of_rows(halves_ + 1); }

 private:
  std::size_t offset(int half) const { return static_cast<std::size_t>(half) * levels_; }
  std::span<std::size_t> row(int half) { return {&counts_[offset(half)], levels_}; }
  std::vector<std::size_t> sum_of_rows(int rows) const;

  int halves_;
  std::size_t levels_;
  std::vector<std::size_t> counts_;  // by half and level; the last row counts the middle draws
};

// The levels that occur, given how often each does.
CountedValues counted_levels(std::span<const std::size_t> counts);

// Mean and standard deviation over all draws, the denominator being one less than their number.
struct LevelMoments {
  double mean = 0, sd = 0;
};
LevelMoments level_moments(const LevelCounts& counts);

// The moments of the half chains when value[k] stands in the place of level k.
SequenceMoments half_moments(const LevelCounts& counts, std::span<const double> value);

// The R-hat that rhat() finds in the same draws.
double rhat(const LevelCounts& counts);

}  // namespace saltus
