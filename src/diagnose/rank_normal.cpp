#include "diagnose/rank_normal.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "diagnose/counted_values.hpp"
#include "diagnose/normal_quantile.hpp"

namespace saltus {
namespace {

// The distinct values in ascending order, and the normal score of each.
struct ScoreTable {
  std::vector<double> values, scores;
};

ScoreTable score_table(CountedValues counted) {
  const double draws = static_cast<double>(counted.total);
  ScoreTable table{std::move(counted.values), {}};
  table.scores.reserve(table.values.size());
  std::size_t below = 0;
  for (const std::size_t count : counted.counts) {
    const double rank = static_cast<double>(below) + (static_cast<double>(count) + 1) / 2;
    table.scores.push_back(normal_quantile((rank - 0.375) / (draws + 0.25)));
    below += count;
  }
  return table;
}

}  // namespace

Sequences rank_normalised(const Sequences& sequences) {
  CountedValues counted = count_values(sequences);
  if (!counted.finite) {
    return changed(sequences, [](std::span<double> x) {
      std::fill(x.begin(), x.end(), std::numeric_limits<double>::quiet_NaN());
    });
  }
  // Shared, because functions are copied and the table of a continuous quantity is large.
  const auto table = std::make_shared<const ScoreTable>(score_table(std::move(counted)));
  return changed(sequences, [table](std::span<double> x) {
    const std::vector<double>& values = table->values;
    for (double& draw : x) {
      const auto at = std::lower_bound(values.begin(), values.end(), draw);
      draw = table->scores[static_cast<std::size_t>(at - values.begin())];
    }
  });
}

}  // namespace saltus
