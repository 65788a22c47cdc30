// When R-hat speaks against draws, and when it is what chance makes of the largest of many.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "saltus/diagnose/chains.hpp"
#include "service/parts.hpp"

namespace saltus {
namespace {

constexpr int kChains = 4;

// A run of `count` coordinates with the same ESS, one of which has this R-hat.
SampleResult result_of(double rhat, double ess, std::size_t count) {
  SampleResult r;
  r.plan.chains = kChains;
  r.draws_made = 10000;
  r.statistics.acceptance = 0.5;
  r.random_sampler = r.exact_sampler = true;
  CoordinateSummary s;
  s.sd = 1, s.ess_bulk = ess, s.rhat = 1.0;
  r.summaries.assign(count, s);
  r.summaries[count / 2].rhat = rhat;
  return r;
}

bool warned(const SampleResult& r) {
  const Warnings list = sample_warnings(r);
  EXPECT_LE(list.size(), 1u);
  if (!list.empty()) {
    EXPECT_EQ(list[0].code, "mixing");
  }
  return !list.empty();
}

TEST(SampleWarnings, RhatIsJudgedBesideWhatChanceMakes) {
  EXPECT_FALSE(warned(result_of(1.009, 100, 1)));
  EXPECT_TRUE(warned(result_of(1.012, 300, 1000)));    // too few draws to tell
  EXPECT_FALSE(warned(result_of(1.012, 1000, 1000)));  // the largest of a thousand
  EXPECT_TRUE(warned(result_of(1.05, 1000, 1000)));    // beyond chance
  EXPECT_TRUE(warned(result_of(1.012, 20000, 1000)));  // beyond chance with so many draws
  EXPECT_TRUE(warned(result_of(4, 4.2, 10)));          // chains in different modes
  EXPECT_TRUE(warned(result_of(INFINITY, 4.0, 10)));   // chains that stand at different levels
  EXPECT_FALSE(warned(result_of(NAN, NAN, 10)));       // nothing to compare
}

// Chains of one law, each draw with correlation 0.9 to the one before it, are hardly ever warned
// of, although the largest R-hat of so many coordinates is mostly above 1.01.
TEST(SampleWarnings, ChainsOfOneLawAreNotWarnedOf) {
  constexpr int kRuns = 8, kCoordinates = 50, kDraws = 4000;
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  const RowBuffer<double> x(kChains, kDraws);
  int warnings = 0, above = 0;
  for (int run = 0; run < kRuns; ++run) {
    SampleResult r = result_of(1, 1, kCoordinates);
    double most = 0;
    for (CoordinateSummary& s : r.summaries) {
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
    warnings += warned(r);
    above += most > 1.01;
  }
  EXPECT_EQ(warnings, 0);
  EXPECT_GT(above, kRuns / 2);
}

}  // namespace
}  // namespace saltus
