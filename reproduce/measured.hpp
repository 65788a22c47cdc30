// A number measured in several independent runs.
#pragma once

#include <cmath>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "report/plot.hpp"

namespace saltus::reproduce {

struct Measured {
  double mean = 0;
  double sd = 0;                     // of one run; 0 for a single one
  std::optional<double> error = {};  // of the mean; none for a single run
};

inline Measured measured(std::span<const double> runs) {
  Measured m;
  const auto n = static_cast<double>(runs.size());
  for (const double v : runs) m.mean += v / n;
  if (runs.size() < 2) return m;
  for (const double v : runs) m.sd += (v - m.mean) * (v - m.mean) / (n - 1);
  m.sd = std::sqrt(m.sd);
  m.error = m.sd / std::sqrt(n);
  return m;
}

// The mean of of(run) over the runs; `of` may be a member of Run.
template <class Runs, class Of>
Measured over_runs(const Runs& runs, Of of) {
  std::vector<double> values;
  for (const auto& run : runs) values.push_back(std::invoke(of, run));
  return measured(values);
}

// The mean of of(ours, theirs) over runs with the same seeds.
template <class Runs, class Of>
Measured over_pairs(const Runs& ours, const Runs& theirs, Of of) {
  std::vector<double> values;
  for (std::size_t r = 0; r < std::min(ours.size(), theirs.size()); ++r) {
    values.push_back(of(ours[r], theirs[r]));
  }
  return measured(values);
}

// It is not zero, by two standard errors.
inline bool clearly(const Measured& m) {
  return m.error && std::abs(m.mean) > 2 * *m.error;
}

// A band of one standard deviation of a run around the next value of a series.
inline void add_band(const Measured& m, report::Series& series) {
  series.low.push_back(m.mean - m.sd);
  series.high.push_back(m.mean + m.sd);
}
inline void add_banded(double x, const Measured& m, report::Series& series) {
  series.add(x, m.mean);
  add_band(m, series);
}

}  // namespace saltus::reproduce
