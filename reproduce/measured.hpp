// A number measured in several independent runs.
#pragma once

#include <cmath>
#include <optional>
#include <span>
#include <vector>

namespace saltus::reproduce {

struct Measured {
  double mean = 0;
  double sd = 0;                // of one run; 0 for a single one
  std::optional<double> error;  // of the mean; none for a single run
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

// The mean of of(run) over the runs.
template <class Run, class Of>
Measured over_runs(const std::vector<Run>& runs, Of of) {
  std::vector<double> values;
  for (const Run& run : runs) values.push_back(of(run));
  return measured(values);
}

// It is not zero, by two standard errors.
inline bool clearly(const Measured& m) {
  return m.error && std::abs(m.mean) > 2 * *m.error;
}

}  // namespace saltus::reproduce
