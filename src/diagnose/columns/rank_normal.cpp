#include "diagnose/columns/rank_normal.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "diagnose/columns/counted_values.hpp"
#include "diagnose/columns/normal_quantile.hpp"

namespace saltus {
namespace {

// The distinct values in ascending order, and the normal score of each.
struct ScoreTable {
  std::vector<double> values, scores;
};

}  // namespace

std::vector<double> normal_scores(std::span<const std::size_t> counts) {
  const std::size_t draws = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
  std::vector<double> scores;
  scores.reserve(counts.size());
  std::size_t below = 0;
  for (const std::size_t count : counts) {
    const double rank = static_cast<double>(below) + (static_cast<double>(count) + 1) / 2;
    scores.push_back(normal_quantile((rank - 0.375) / (static_cast<double>(draws) + 0.25)));
    below += count;
  }
  return scores;
}

Sequences rank_normalised(const Sequences& sequences) {
  CountedValues counted = count_values(sequences);
  if (!counted.finite) {
    return changed(sequences, [](std::span<double> x) {
      std::fill(x.begin(), x.end(), std::numeric_limits<double>::quiet_NaN());
    });
  }
  // Shared, because functions are copied and the table of a continuous quantity is large.
  const auto table = std::make_shared<const ScoreTable>(
      ScoreTable{std::move(counted.values), normal_scores(counted.counts)});
  return changed(sequences, [table](std::span<double> x) {
    const std::vector<double>& values = table->values;
    for (double& draw : x) {
      const auto at = std::lower_bound(values.begin(), values.end(), draw);
      draw = table->scores[static_cast<std::size_t>(at - values.begin())];
    }
  });
}

}  // namespace saltus
