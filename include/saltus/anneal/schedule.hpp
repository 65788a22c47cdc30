// The inverse temperatures b of a search for the best state, which runs on b log p: where they
// begin and end, and how they go from one to the other.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "saltus/target/target.hpp"

namespace saltus {

enum class ScheduleKind {
  adaptive,   // at constant speed in the integral of the standard deviation of log p
  linear,     // b in equal steps
  geometric,  // log b in equal steps
};

struct BetaRange {
  double first = 0, last = 0;
};

// From a temperature at which every change is easily made to one at which a state that no change
// improves is left with a probability of 0.01 in a sweep:
//   first = ln 2 / max |D|,   last = ln(100 d) / min |D|,
// with D the changes of log p by one coordinate at random states and, for the minimum, also where
// greedy ascent from these ends; those below 1e-3 of the maximum do not count. Throws DataError
// when log p does not depend on the state.
BetaRange default_range(const Target& target, std::uint64_t seed, int threads = 0);

// `steps` values from range.first to range.last; a single one is range.last. Throws UsageError
// unless 0 < first <= last and steps >= 1.
std::vector<double> linear_schedule(const BetaRange& range, int steps);
std::vector<double> geometric_schedule(const BetaRange& range, int steps);

// The schedule that follows from a pilot: mean_logp[q] is the mean of log p over its restarts after
// the step at pilot[q]. Its growth is the variance of log p, d<log p>/db; the spread over restarts
// is not, because frozen restarts sit in different optima. (Constant thermodynamic speed: Nulton &
// Salamon 1988.)
std::vector<double> adaptive_schedule(std::span<const double> pilot,
                                      std::span<const double> mean_logp, int steps);

}  // namespace saltus
