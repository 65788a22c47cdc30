#include "saltus/diagnose/chains.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "diagnose/columns/ranks.hpp"
#include "series.hpp"

namespace saltus {
namespace {

using Values = std::vector<double>;

void expect_reference(const Series& series, double full, double split) {
  EXPECT_NEAR(rhat(chains_of(series)) / full, 1, 1e-12);
  EXPECT_NEAR(split_rhat(chains_of(series)) / split, 1, 1e-12);
}

// Reference values of this group: see series.hpp.

TEST(Rhat, Digits) {
  expect_reference(digits(), 1.0082571771555933, 0.99344699754789989);
}

// Here the folded R-hat is the larger of the two.
TEST(Rhat, WalkOverFewLevels) {
  expect_reference(level_walk(7, 3, 60), 1.1532281324589451, 1.1228143041479188);
}

TEST(Rhat, OddNumberOfDraws) {
  expect_reference(level_walk(7, 3, 61), 1.2381414710569545, 1.2373950717923932);
  expect_reference(autoregression(11, 4, 101, 0.5), 1.0085628102944224, 1.0083041259470455);
}

// Only the folded R-hat sees that one chain is three times as wide (bulk alone: 1.0049).
TEST(Rhat, ChainsOfDifferentScale) {
  Series series = autoregression(11, 4, 100, 0.5);
  for (double& x : series[3]) x *= 3;
  expect_reference(series, 1.1253878745773862, 1.0133498579281528);
}

TEST(Rhat, ChainsOfDifferentLocation) {
  Series series = autoregression(11, 4, 100, 0.5);
  for (double& x : series[3]) x += 1;
  expect_reference(series, 1.4802661918820181, 1.6868461152401084);
}

// One half chain drifts: only splitting shows it.
TEST(Rhat, SingleChain) {
  Values chain;
  for (int t = 0; t < 100; ++t) chain.push_back(t % 5 + (t < 50 ? 0 : 4));
  EXPECT_GT(rhat(chains_of(Series{chain})), 1.5);
  EXPECT_GT(split_rhat(chains_of(Series{chain})), 1.5);
}

// Balanced levels are equally far from the median 1/2: the folded quantity is constant.
TEST(Rhat, BalancedTwoLevels) {
  const Chains chains = chains_of(Series{{0, 1, 1, 0, 0, 1, 0, 0}, {1, 1, 0, 1, 0, 1, 0, 1}});
  EXPECT_TRUE(std::isfinite(rhat(chains)));
  EXPECT_NEAR(rhat(chains), split_rhat(chains), 1e-12);
}

TEST(Rhat, ConstantIsNaN) {
  const Chains chains = chains_of(Series(3, Values(21, 0.1)));
  EXPECT_TRUE(std::isnan(rhat(chains)));
  EXPECT_TRUE(std::isnan(split_rhat(chains)));
}

TEST(Rhat, ConstantChainsThatDifferAreInfinite) {
  const Chains chains = chains_of(Series{Values(21, 0.1), Values(21, 0.7), Values(21, 0.1)});
  EXPECT_EQ(rhat(chains), std::numeric_limits<double>::infinity());
  EXPECT_EQ(split_rhat(chains), std::numeric_limits<double>::infinity());
}

TEST(Rhat, ShortChainsAndNotFiniteDrawsAreNaN) {
  EXPECT_TRUE(std::isnan(rhat(Chains{})));
  EXPECT_TRUE(std::isnan(rhat(chains_of(Series{{1, 2, 3}, {3, 1, 2}}))));
  EXPECT_TRUE(std::isnan(split_rhat(chains_of(Series{{1, 2, 3}, {3, 1, 2}}))));
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), -std::numeric_limits<double>::infinity()}) {
    Series series = digits();
    series[2][0] = bad;
    EXPECT_TRUE(std::isnan(rhat(chains_of(series))));
    EXPECT_TRUE(std::isnan(split_rhat(chains_of(series))));
  }
}

// The middle draw is in no half chain, but the median needs it.
TEST(Rhat, NotFiniteMiddleDrawIsNaN) {
  Series series = level_walk(7, 3, 61);
  series[1][30] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan(rhat(chains_of(series))));
}

// Solved to 20 digits in multiple precision for the double nearest to each p.
TEST(NormalQuantile, KnownValues) {
  const std::vector<std::pair<double, double>> known = {
      {1e-300, -37.047096299361199237}, {1e-20, -9.2623400897984075796},
      {1e-5, -4.2648907939228246102},   {0.01, -2.3263478740408410931},
      {0.2, -0.84162123357291416552},   {0.4, -0.25334710313579974132},
      {0.499, -0.0025066308995717662},  {0.5, 0},
      {0.7, 0.52440051270804065631},    {0.999, 3.0902323061678132778}};
  for (const auto& [p, z] : known) {
    EXPECT_NEAR(normal_quantile(p), z, 1e-14 * std::max(1.0, std::abs(z))) << p;
  }
  EXPECT_EQ(normal_quantile(0), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(normal_quantile(1), std::numeric_limits<double>::infinity());
}

TEST(CountedValues, OrderStatisticsAndMedian) {
  const Chains odd = chains_of(Series{{2, 5, 2}, {-1, 5, 2}, {7, 5, 2}});
  const CountedValues counted = count_values(whole_chains(odd));
  EXPECT_EQ(counted.values, (Values{-1, 2, 5, 7}));
  EXPECT_EQ(counted.counts, (std::vector<std::size_t>{1, 4, 3, 1}));
  const Values sorted = {-1, 2, 2, 2, 2, 5, 5, 5, 7};
  for (std::size_t i = 0; i < sorted.size(); ++i) EXPECT_EQ(counted.order_statistic(i), sorted[i]);
  EXPECT_EQ(counted.median(), 2);
  const Chains even = chains_of(Series{{1, 4}, {2, 9}});
  EXPECT_EQ(count_values(whole_chains(even)).median(), 3);
}

// Ranks 1, 3, 3, 3, 5.5, 5.5 of six draws.
TEST(RankNormal, TiesShareTheirAverageRank) {
  const Chains chains = chains_of(Series{{4, 0, 4}, {9, 4, 9}});
  Values scores;
  rank_normalised(whole_chains(chains)).for_each([&](std::span<double> x) {
    scores.insert(scores.end(), x.begin(), x.end());
  });
  const Values ranks = {3, 1, 3, 5.5, 3, 5.5};
  ASSERT_EQ(scores.size(), ranks.size());
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    EXPECT_DOUBLE_EQ(scores[i], normal_quantile((ranks[i] - 0.375) / 6.25));
  }
}

}  // namespace
}  // namespace saltus
