#include "diagnose/columns/level_counts.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "saltus/diagnose/chains.hpp"
#include "series.hpp"

namespace saltus {
namespace {

LevelCounts counted(const Series& series, std::size_t levels) {
  LevelCounts counts(2 * static_cast<int>(series.size()), levels);
  int half = 0;
  for (const auto& chain : series) {
    const std::vector<Symbol> x(chain.begin(), chain.end());
    const std::span<const Symbol> draws = x;
    counts.add(half++, draws.first(x.size() / 2));
    if (x.size() % 2 == 1) counts.add_middle(x[x.size() / 2]);
    counts.add(half++, draws.last(x.size() / 2));
  }
  return counts;
}

using Counts = std::vector<std::size_t>;

TEST(LevelCounts, HalvesAndMiddle) {
  const LevelCounts counts = counted({{0, 1, 2, 2, 1}, {3, 3, 0, 1, 0}}, 5);
  const auto row = [&](int half) { return Counts(counts.of(half).begin(), counts.of(half).end()); };
  EXPECT_EQ(row(0), (Counts{1, 1, 0, 0, 0}));
  EXPECT_EQ(row(1), (Counts{0, 1, 1, 0, 0}));
  EXPECT_EQ(row(2), (Counts{0, 0, 0, 2, 0}));
  EXPECT_EQ(row(3), (Counts{1, 1, 0, 0, 0}));
  EXPECT_EQ(counts.of_halves(), (Counts{2, 3, 1, 2, 0}));
  EXPECT_EQ(counts.of_all(), (Counts{3, 3, 2, 2, 0}));
}

TEST(LevelCounts, TwoLevels) {
  const LevelCounts counts = counted({{0, 1, 1, 1, 0, 1, 1}}, 2);
  EXPECT_EQ(counts.of_halves(), (Counts{2, 4}));
  EXPECT_EQ(counts.of_all(), (Counts{2, 5}));
}

TEST(LevelCounts, MomentsOfAllDraws) {
  const LevelMoments moments = level_moments(counted({{0, 3, 3}, {6, 1, 2}}, 7));
  EXPECT_DOUBLE_EQ(moments.mean, 2.5);
  EXPECT_DOUBLE_EQ(moments.sd, std::sqrt(21.5 / 5));
}

TEST(LevelCounts, RhatOfPlainChains) {
  for (const Series& series :
       {digits(), level_walk(7, 3, 60), level_walk(7, 3, 61), level_walk(9, 1, 1000),
        two_level(3, 2, 100, 0.3), two_level(4, 4, 801, 0.01)}) {
    EXPECT_NEAR(rhat(counted(series, 10)), rhat(chains_of(series)), 1e-13);
  }
}

// The same locations, but one chain is wider: only the folded R-hat, the larger one, sees it.
TEST(LevelCounts, RhatOfDifferentScales) {
  Series series = level_walk(7, 4, 400);
  for (double& x : series[3]) x = x < 3 ? 0 : x > 3 ? 9 : x;
  EXPECT_NEAR(rhat(counted(series, 10)), rhat(chains_of(series)), 1e-13);
}

// The median is 1.5 without the middle draw and 2 with it. The folded R-hat is the larger one.
TEST(LevelCounts, MiddleDrawMovesTheMedian) {
  const Series series = {{1, 2, 1, 2, 5, 0, 3, 0, 4}};
  EXPECT_NEAR(rhat(counted(series, 6)), rhat(chains_of(series)), 1e-13);
}

TEST(LevelCounts, RhatWithoutAnAnswer) {
  EXPECT_TRUE(std::isnan(rhat(counted(Series(2, std::vector<double>(8, 3)), 5))));
  EXPECT_EQ(rhat(counted({std::vector<double>(8, 3), std::vector<double>(8, 1)}, 5)),
            std::numeric_limits<double>::infinity());
  const Series balanced = {{0, 1, 1, 0, 0, 1, 0, 0}, {1, 1, 0, 1, 0, 1, 0, 1}};
  EXPECT_NEAR(rhat(counted(balanced, 2)), rhat(chains_of(balanced)), 1e-13);
}

}  // namespace
}  // namespace saltus
