// When R-hat speaks against draws, and when it is what chance makes of the largest of many.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "saltus/diagnose/chains.hpp"
#include "saltus/diagnose/mixing.hpp"

namespace saltus {
namespace {

constexpr int kChains = 4;

// Coordinates with the same ESS, one of which has this R-hat.
std::vector<CoordinateSummary> summaries(double rhat, double ess, std::size_t count) {
  CoordinateSummary s;
  s.sd = 1, s.ess_bulk = ess, s.rhat = 1.0;
  std::vector<CoordinateSummary> list(count, s);
  list[count / 2].rhat = rhat;
  return list;
}

bool warned(const std::vector<CoordinateSummary>& list) {
  return mixing_warning(list, {}, kChains).has_value();
}

TEST(Mixing, RhatIsJudgedBesideWhatChanceMakes) {
  EXPECT_FALSE(warned(summaries(1.009, 100, 1)));
  EXPECT_TRUE(warned(summaries(1.012, 300, 1000)));    // too few draws to tell
  EXPECT_FALSE(warned(summaries(1.012, 1000, 1000)));  // the largest of a thousand
  EXPECT_TRUE(warned(summaries(1.05, 1000, 1000)));    // beyond chance
  EXPECT_TRUE(warned(summaries(1.012, 20000, 1000)));  // beyond chance with so many draws
  EXPECT_TRUE(warned(summaries(4, 4.2, 10)));          // chains in different modes
  EXPECT_TRUE(warned(summaries(INFINITY, 4.0, 10)));   // chains that stand at different levels
  EXPECT_FALSE(warned(summaries(NAN, NAN, 10)));       // nothing to compare
}

TEST(Mixing, OverlapsOfPairsDoNotCount) {
  ObservableSummary s;
  s.ess = 10, s.rhat = 1.5;
  EXPECT_TRUE(mixing_warning({}, std::span(&s, 1), kChains));
  s.of_pairs = true;
  EXPECT_FALSE(mixing_warning({}, std::span(&s, 1), kChains));
}

// Chains of one law, each draw with correlation 0.9 to the one before it, are hardly ever warned
// of, although the largest R-hat of so many coordinates is mostly above 1.01.
TEST(Mixing, ChainsOfOneLawAreNotWarnedOf) {
  constexpr int kRuns = 8, kCoordinates = 50, kDraws = 4000;
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  const RowBuffer<double> x(kChains, kDraws);
  int warnings = 0, above = 0;
  for (int run = 0; run < kRuns; ++run) {
    auto list = summaries(1, 1, kCoordinates);
    double most = 0;
    for (CoordinateSummary& s : list) {
      for (int c = 0; c < kChains; ++c) {
        double v = normal(random);
        for (int t = 0; t < kDraws; ++t) {
          v = 0.9 * v + std::sqrt(1 - 0.81) * normal(random);
          x.view()[c][t] = v;
        }
      }
      s.ess_bulk = ess_bulk(chains_of(x.view()));
      s.rhat = rhat(chains_of(x.view()));
      most = std::max(most, s.rhat);
    }
    warnings += warned(list);
    above += most > 1.01;
  }
  EXPECT_EQ(warnings, 0);
  EXPECT_GT(above, kRuns / 2);
}

}  // namespace
}  // namespace saltus
