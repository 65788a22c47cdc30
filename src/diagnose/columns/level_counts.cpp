#include "diagnose/columns/level_counts.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <numeric>

#include "diagnose/columns/ranks.hpp"
#include "diagnose/columns/sequences.hpp"

namespace saltus {
namespace {

// Mean and sum of squared deviations of a histogram.
struct CountedMoments {
  double mean = 0, squares = 0;
};

template <class Value>
CountedMoments moments_of(std::span<const std::size_t> counts, Value value) {
  const auto first = static_cast<std::size_t>(
      std::find_if(counts.begin(), counts.end(), [](std::size_t n) { return n > 0; }) -
      counts.begin());
  if (first == counts.size()) return {};
  // Relative to a value that occurs, so that a single one leaves no rounding error behind.
  double draws = 0, sum = 0;
  for (std::size_t k = first; k < counts.size(); ++k) {
    draws += static_cast<double>(counts[k]);
    sum += static_cast<double>(counts[k]) * (value(k) - value(first));
  }
  CountedMoments moments{value(first) + sum / draws, 0};
  for (std::size_t k = first; k < counts.size(); ++k) {
    const double deviation = value(k) - moments.mean;
    moments.squares += static_cast<double>(counts[k]) * deviation * deviation;
  }
  return moments;
}

// The normal score of |level - median| by level. Distances are counted in halves of a level: the
// median may lie in the middle between two.
std::vector<double> folded_scores(const LevelCounts& counts) {
  const std::vector<std::size_t> draws = counts.of_halves();
  const auto median = static_cast<std::ptrdiff_t>(2 * counted_levels(counts.of_all()).median());
  const auto distance = [median](std::size_t level) {
    return static_cast<std::size_t>(std::abs(2 * static_cast<std::ptrdiff_t>(level) - median));
  };
  std::vector<std::size_t> at_distance(2 * draws.size());
  for (std::size_t k = 0; k < draws.size(); ++k) at_distance[distance(k)] += draws[k];
  const std::vector<double> scores = normal_scores(at_distance);
  std::vector<double> by_level;
  for (std::size_t k = 0; k < draws.size(); ++k) by_level.push_back(scores[distance(k)]);
  return by_level;
}

}  // namespace

LevelCounts::LevelCounts(int halves, std::size_t levels)
    : halves_(halves), levels_(levels), counts_((static_cast<std::size_t>(halves) + 1) * levels) {}

void LevelCounts::add(int half, std::span<const Symbol> x) {
  const std::span<std::size_t> counts = row(half);
  if (levels_ == 2) {  // a sum, which does not wait for the counter it has just changed
    const std::size_t ones = std::accumulate(x.begin(), x.end(), std::size_t{0});
    counts[0] += x.size() - ones;
    counts[1] += ones;
    return;
  }
  for (const Symbol level : x) ++counts[level];
}

std::vector<std::size_t> LevelCounts::sum_of_rows(int rows) const {
  std::vector<std::size_t> sum(levels_);
  for (int r = 0; r < rows; ++r) {
    std::transform(sum.begin(), sum.end(), of(r).begin(), sum.begin(), std::plus<>());
  }
  return sum;
}

CountedValues counted_levels(std::span<const std::size_t> counts) {
  CountedValues counted;
  for (std::size_t k = 0; k < counts.size(); ++k) {
    if (counts[k] == 0) continue;
    counted.values.push_back(static_cast<double>(k));
    counted.counts.push_back(counts[k]);
    counted.total += counts[k];
  }
  return counted;
}

LevelMoments level_moments(const LevelCounts& counts) {
  const std::vector<std::size_t> all = counts.of_all();
  const auto draws = static_cast<double>(std::accumulate(all.begin(), all.end(), std::size_t{0}));
  const CountedMoments moments =
      moments_of(all, [](std::size_t level) { return static_cast<double>(level); });
  return {moments.mean, draws > 1 ? std::sqrt(moments.squares / (draws - 1)) : 0};
}

SequenceMoments half_moments(const LevelCounts& counts, std::span<const double> value) {
  SequenceMoments all;
  for (int half = 0; half < counts.halves(); ++half) {
    const CountedMoments moments =
        moments_of(counts.of(half), [value](std::size_t level) { return value[level]; });
    all.means.push_back(moments.mean);
    all.squares += moments.squares;
  }
  return all;
}

double rhat(const LevelCounts& counts) {
  const auto first = counts.of(0);
  const std::size_t length = std::accumulate(first.begin(), first.end(), std::size_t{0});
  const auto of_scores = [&](const std::vector<double>& scores) {
    return plain_rhat(half_moments(counts, scores), length);
  };
  // fmax leaves out a NaN, that of a constant folded quantity.
  return std::fmax(of_scores(normal_scores(counts.of_halves())), of_scores(folded_scores(counts)));
}

}  // namespace saltus
