// Summaries of unordered levels against the diagnostics of plain chains of indicators.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "level_draws.hpp"
#include "saltus/diagnose/chains.hpp"
#include "saltus/diagnose/summary.hpp"

namespace saltus {
namespace {

// Equal up to rounding, or both not a number, or both infinite.
void expect_same(double is, double wanted, double tolerance) {
  if (!std::isfinite(wanted)) {
    EXPECT_EQ(std::isnan(is), std::isnan(wanted)) << is;
    EXPECT_EQ(std::isinf(is), std::isinf(wanted)) << is;
    return;
  }
  EXPECT_NEAR(is, wanted, tolerance * std::max(1.0, std::abs(wanted)));
}

double mean_of(const Chains& chains) {
  double sum = 0;
  std::vector<double> x(chains.draws);
  for (int c = 0; c < chains.chains; ++c) {
    chains.read(c, x);
    for (const double v : x) sum += v;
  }
  return sum / (static_cast<double>(chains.draws) * chains.chains);
}

void expect_as_indicators(const LevelDraws& draws) {
  const std::vector<CoordinateSummary> all = summarise(draws, true, 2);
  for (int c = 0; c < draws.dim(); ++c) {
    const CoordinateSummary& s = all[static_cast<std::size_t>(c)];
    double least_ess = NAN, largest_rhat = NAN;
    for (const ClassSummary& k : s.classes) {
      SCOPED_TRACE("column " + std::to_string(c) + ", level " + std::to_string(k.level));
      const Chains indicator = draws.indicator(c, k.level);
      EXPECT_NEAR(k.probability, mean_of(indicator), 1e-14);
      expect_same(k.ess, ess_mean(indicator), 1e-9);
      expect_same(k.mcse, mcse_mean(indicator), 1e-9);
      expect_same(k.rhat, rhat(indicator), 1e-12);
      least_ess = std::fmin(least_ess, k.ess);
      largest_rhat = std::fmax(largest_rhat, k.rhat);
    }
    expect_same(s.ess_bulk, least_ess, 1e-14);
    expect_same(s.rhat, largest_rhat, 1e-14);
  }
}

std::vector<int> levels_of(const CoordinateSummary& s) {
  std::vector<int> levels;
  for (const ClassSummary& k : s.classes) levels.push_back(k.level);
  return levels;
}

// A walk over seven levels, one over two of them, two that alternate slowly, one that never moves.
std::vector<Series> columns_of(int chains, int draws) {
  Series two_of_seven = two_level(5, chains, draws, 0.1);
  for (auto& chain : two_of_seven) {
    for (double& x : chain) x = x > 0 ? 5 : 2;
  }
  Series slow = level_walk(7, chains, draws);
  const Series shift = two_level(11, chains, draws, 0.01);
  for (std::size_t c = 0; c < slow.size(); ++c) {
    for (std::size_t t = 0; t < slow[c].size(); ++t) {
      slow[c][t] = static_cast<int>(slow[c][t]) % 3 + 4 * shift[c][t];
    }
  }
  return {level_walk(7, chains, draws), two_of_seven, slow,
          Series(static_cast<std::size_t>(chains),
                 std::vector<double>(static_cast<std::size_t>(draws), 4))};
}

TEST(Classes, AgreeWithIndicators) {
  for (const int draws : {4, 5, 6, 7, 63, 129, 257, 1000, 1001, 16385, 30001}) {
    SCOPED_TRACE(std::to_string(draws) + " draws");
    expect_as_indicators(LevelDraws(columns_of(3, draws), 7).unordered({7}));
  }
}

TEST(Classes, AgreeWhereFourierTransformsAreNeeded) {
  Series slow = two_level(11, 2, 30001, 0.0003);
  const Series level = two_level(3, 2, 30001, 0.001);
  for (std::size_t c = 0; c < slow.size(); ++c) {
    for (std::size_t t = 0; t < slow[c].size(); ++t) slow[c][t] += 2 * level[c][t];
  }
  expect_as_indicators(LevelDraws({slow}, 4).unordered({4}));
}

TEST(Classes, ThatNeverOccurAreListed) {
  const LevelDraws draws = LevelDraws({two_level(3, 2, 500, 0.3)}, 4).unordered({4});
  const CoordinateSummary s = summarise(draws, false, 1)[0];
  ASSERT_EQ(levels_of(s), (std::vector{0, 1, 2, 3}));
  EXPECT_EQ(s.classes[3].probability, 0);
  EXPECT_TRUE(std::isnan(s.classes[3].ess) && std::isnan(s.classes[3].rhat));
  expect_as_indicators(draws);
}

TEST(Classes, ChainsInDifferentOnes) {
  const Series stuck = {std::vector<double>(900, 0), std::vector<double>(900, 2)};
  const LevelDraws draws = LevelDraws({stuck}, 3).unordered({3});
  expect_as_indicators(draws);
  EXPECT_TRUE(std::isinf(summarise(draws, false, 1)[0].rhat));
}

// Levels 0 and 2 share the weight evenly in every chain, or not: their mean is that of level 1. The
// mean of the index shows nothing.
TEST(Classes, SeeWhatTheMeanOfTheIndexHides) {
  Series series = two_level(3, 4, 4000, 0.5);
  for (auto& x : series[0]) x = 1;
  for (std::size_t c = 1; c < 4; ++c) {
    for (double& x : series[c]) x *= 2;
  }
  const LevelDraws draws = LevelDraws({series}, 3).unordered({3});
  const CoordinateSummary s = summarise(draws, false, 1)[0];
  EXPECT_NEAR((s.mean + 1) / 2, 1, 0.05);
  EXPECT_GT(s.rhat, 1.1);
  EXPECT_LT(s.ess_bulk, 20);
}

// The middle draw of an odd number counts for the probability alone.
TEST(Classes, MiddleDraw) {
  Series series = two_level(3, 1, 501, 0.3);
  series[0][250] = 2;
  const LevelDraws draws = LevelDraws({series}, 3).unordered({3});
  const CoordinateSummary s = summarise(draws, false, 1)[0];
  EXPECT_NEAR(s.classes[2].probability, 1.0 / 501, 1e-15);
  EXPECT_TRUE(std::isnan(s.classes[2].ess));
  expect_as_indicators(draws);
}

TEST(Classes, TwoLevelsStayAsTheyAre) {
  const std::vector<Series> columns = {two_level(3, 2, 501, 0.2), level_walk(7, 2, 501)};
  LevelDraws draws(columns, 7);
  const CoordinateSummary ordered = summarise(draws, true, 1)[0];
  const auto mixed = summarise(draws.unordered({2, 7}), true, 1);
  const CoordinateSummary& s = mixed[0];
  EXPECT_EQ(s.mean, ordered.mean);
  EXPECT_EQ(s.mcse, ordered.mcse);
  EXPECT_EQ(s.ess_bulk, ordered.ess_bulk);
  EXPECT_EQ(s.ess_tail, ordered.ess_tail);
  EXPECT_EQ(s.rhat, ordered.rhat);
  EXPECT_EQ(levels_of(s), (std::vector{0, 1}));
  EXPECT_EQ(mixed[1].classes.size(), 7U);
  expect_as_indicators(draws);

  LevelDraws two({columns[0]}, 2);
  EXPECT_TRUE(summarise(two.unordered({2}), true, 1)[0].classes.empty());
}

TEST(Classes, OfVeryManyTheMostFrequentAreKept) {
  PlainGenerator generator(5);
  Series series(2, std::vector<double>(6000));
  for (auto& chain : series) {
    for (double& x : chain) x = 20 + std::floor(80 * std::pow(generator.next(), 3));
  }
  const LevelDraws draws = LevelDraws({series}, 5000).unordered({5000});
  const CoordinateSummary s = summarise(draws, false, 1)[0];
  std::vector<int> first(10);
  for (int k = 0; k < 10; ++k) first[static_cast<std::size_t>(k)] = 20 + k;
  EXPECT_EQ(levels_of(s), first);
  expect_as_indicators(draws);
}

TEST(Classes, MemoryOfManyCoordinatesIsBounded) {
  DrawsInfo info;
  info.levels = 5;
  info.classes = {5};
  EXPECT_EQ(most_classes(info, 1000), 5);
  EXPECT_EQ(most_classes(info, 2'000'000), 2);
  EXPECT_EQ(most_classes(info, 100'000'000), 1);
  info.levels = 64;
  EXPECT_EQ(most_classes(info, 1000), 64);
  info.levels = 65;
  EXPECT_EQ(most_classes(info, 1000), 10);
}

TEST(Classes, ThreadsChangeNoBit) {
  const LevelDraws draws = LevelDraws(columns_of(2, 3001), 7).unordered({7});
  const auto one = summarise(draws, false, 1), three = summarise(draws, false, 3);
  for (std::size_t c = 0; c < one.size(); ++c) {
    EXPECT_EQ(levels_of(one[c]), levels_of(three[c]));
    for (std::size_t k = 0; k < one[c].classes.size(); ++k) {
      if (std::isnan(one[c].classes[k].ess)) continue;
      EXPECT_EQ(one[c].classes[k].ess, three[c].classes[k].ess);
    }
  }
}

}  // namespace
}  // namespace saltus
