#include "saltus/diagnose/chains.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "diagnose/columns/lag_sums.hpp"
#include "series.hpp"

namespace saltus {
namespace {

using Values = std::vector<double>;

TEST(EssPaper, ShortSeriesByHand) {
  EXPECT_NEAR(ess_paper(Values{1, 2, 3, 4, 3, 2, 1, 2}), 4.3243243243, 1e-10);
  EXPECT_NEAR(ess_paper(Values{0, 0, 1, 1, 1, 0, 1, 0, 0, 0, 1, 1}), 10.2857142857, 1e-10);
  EXPECT_NEAR(ess_paper(Values{0, 1, 0, 1, 0, 1, 0, 1}), 8, 1e-12);
}

TEST(EssPaper, TwoLevelSeriesOfThousand) {
  const Values series = two_level(42, 1, 1000, 0.1)[0];
  double sum = 0;
  for (const double x : series) sum += x;
  EXPECT_EQ(sum, 465);
  EXPECT_NEAR(ess_paper(series), 106.6117155465, 1e-9);
}

// The first negative lag is 348, beyond those that are summed directly. Reference: numpy.
TEST(EssPaper, SlowSeries) {
  EXPECT_NEAR(ess_paper(autoregression(3, 1, 3000, 0.99)[0]), 18.672328842379603, 1e-9);
}

TEST(EssPaper, UndefinedIsOne) {
  EXPECT_EQ(ess_paper(Values(50, 0.1)), 1);
  EXPECT_EQ(ess_paper(Values{}), 1);
  EXPECT_EQ(ess_paper(Values{3}), 1);
  EXPECT_EQ(ess_paper(Values{1, 2, std::numeric_limits<double>::quiet_NaN(), 4}), 1);
  EXPECT_EQ(ess_paper(Values{1, 2, std::numeric_limits<double>::infinity(), 4}), 1);
}

struct Reference {
  Series series;
  double bulk, tail, mean;
};

void expect_reference(const Reference& want) {
  const Chains chains = chains_of(want.series);
  EXPECT_NEAR(ess_bulk(chains) / want.bulk, 1, 1e-11);
  EXPECT_NEAR(ess_tail(chains) / want.tail, 1, 1e-11);
  EXPECT_NEAR(ess_mean(chains) / want.mean, 1, 1e-11);
}

// Reference values of this group: see series.hpp.

TEST(Ess, DigitsReachTheBound) {
  const double bound = 36 * std::log10(36.0);
  expect_reference({digits(), bound, 51.34426229508199, bound});
}

// In the walks x <= q95 holds for every draw, so the tail ESS is that of x <= q05.
TEST(Ess, WalkOverFewLevels) {
  expect_reference(
      {level_walk(7, 3, 60), 17.052839832736225, 22.267214925607501, 16.955581914570505});
}

TEST(Ess, OddNumberOfDraws) {
  expect_reference(
      {level_walk(7, 3, 61), 10.476069931589816, 23.842838196286444, 10.505052483815751});
  expect_reference({autoregression(11, 4, 101, 0.5), 175.01303995365575, 259.98881528963273,
                    180.45311091532074});
}

// 134 lags: three blocks of direct sums.
TEST(Ess, LongerWalk) {
  expect_reference(
      {level_walk(7, 2, 2000), 122.06517906485742, 326.18586454000138, 117.5881532650715});
}

// 488 lags: beyond the direct sums.
TEST(Ess, SlowChains) {
  expect_reference({autoregression(3, 2, 3000, 0.99), 32.461683780398673, 80.142940700884878,
                    31.987835182448716});
}

TEST(Ess, NegativeCorrelationGivesMoreThanTheDraws) {
  expect_reference({autoregression(5, 4, 100, -0.3), 858.49034990009636, 458.78601794992915,
                    677.17895602937983});
}

TEST(Ess, ChainsThatDisagree) {
  Series series = autoregression(11, 4, 100, 0.5);
  for (double& x : series[3]) x += 1;
  expect_reference({series, 8.4822046583862765, 48.343523389734145, 6.9342348883369507});
}

TEST(Ess, MiddleOfOddNumberDoesNotCount) {
  Series series = level_walk(7, 3, 61);
  const double bulk = ess_bulk(chains_of(series)), mean = ess_mean(chains_of(series));
  for (auto& chain : series) chain[30] = 1000;
  EXPECT_EQ(ess_bulk(chains_of(series)), bulk);
  EXPECT_EQ(ess_mean(chains_of(series)), mean);
}

// A Gaussian autoregression has ESS = S (1 - phi)/(1 + phi). An autocorrelation time summed over M
// lags has relative variance 2 (2M + 1)/S (Sokal 1997). Geyer's rule stops where
// phi^M sinks into the noise of about sqrt(time/S), near M = 80 at most here; four standard errors.
TEST(Ess, GaussianAutoregression) {
  constexpr int kChains = 4, kDraws = 50000, kLags = 80;
  constexpr double kPhi = 0.9, kTotal = kChains * kDraws;
  std::mt19937_64 generator(20240817);
  std::normal_distribution<double> normal;
  Series series(kChains);
  for (auto& chain : series) {
    double x = normal(generator) / std::sqrt(1 - kPhi * kPhi);
    for (int t = 0; t < kDraws; ++t) chain.push_back(x = kPhi * x + normal(generator));
  }
  const double exact = kTotal * (1 - kPhi) / (1 + kPhi);
  const double tolerance = 4 * std::sqrt(2 * (2 * kLags + 1) / kTotal);
  EXPECT_NEAR(ess_mean(chains_of(series)) / exact, 1, tolerance);
  EXPECT_NEAR(ess_bulk(chains_of(series)) / exact, 1, tolerance);
  EXPECT_NEAR(ess_paper(series[0]) / (exact / kChains), 1, 2 * tolerance);
}

TEST(Ess, PerfectAlternationReachesTheBound) {
  Series series(2);
  for (auto& chain : series) {
    for (int t = 0; t < 200; ++t) chain.push_back(t % 2);
  }
  EXPECT_NEAR(ess_bulk(chains_of(series)), 400 * std::log10(400.0), 1e-9);
  EXPECT_NEAR(ess_mean(chains_of(series)), 400 * std::log10(400.0), 1e-9);
}

// Normal scores of two levels are two numbers again, and the ESS does not depend on which two. The
// indicator x <= q05 is one of the two levels as well.
TEST(Ess, RanksOfTwoLevelsChangeNothing) {
  const Chains chains = chains_of(two_level(9, 3, 501, 0.15));
  EXPECT_NEAR(ess_bulk(chains) / ess_mean(chains), 1, 1e-10);
  const Chains even = chains_of(two_level(9, 3, 500, 0.15));
  EXPECT_NEAR(ess_tail(even) / ess_mean(even), 1, 1e-10);
}

TEST(Ess, MonotoneMapDoesNotChangeBulkAndTail) {
  Series series = autoregression(11, 4, 101, 0.5);
  const double bulk = ess_bulk(chains_of(series)), tail = ess_tail(chains_of(series));
  for (auto& chain : series) {
    for (double& x : chain) x = std::exp(10 * x);
  }
  EXPECT_EQ(ess_bulk(chains_of(series)), bulk);
  EXPECT_EQ(ess_tail(chains_of(series)), tail);
}

TEST(Ess, ConstantIsNaN) {
  const Chains chains = chains_of(Series(3, Values(20, 0.1)));
  EXPECT_TRUE(std::isnan(ess_bulk(chains)));
  EXPECT_TRUE(std::isnan(ess_tail(chains)));
  EXPECT_TRUE(std::isnan(ess_mean(chains)));
}

// Both 5 % and 95 % quantile are the larger level.
TEST(Ess, TailOfRareLowerLevelIsNaN) {
  Values chain(200, 1.0);
  chain[50] = chain[120] = 0;
  EXPECT_TRUE(std::isnan(ess_tail(chains_of(Series{chain}))));
  EXPECT_FALSE(std::isnan(ess_bulk(chains_of(Series{chain}))));
}

// rho = 1 at all 46 lags used of the half chains of 50: 200 / (-1 + 2*46 + 1).
TEST(Ess, ConstantChainsThatDiffer) {
  const Chains chains = chains_of(Series{Values(100, 0.1), Values(100, 0.7)});
  EXPECT_NEAR(ess_mean(chains), 200.0 / 92, 1e-12);
  EXPECT_NEAR(ess_bulk(chains), 200.0 / 92, 1e-12);
}

TEST(Ess, ShortChains) {
  for (std::size_t draws = 0; draws < 4; ++draws) {
    Series series = digits();
    for (auto& chain : series) chain.resize(draws);
    EXPECT_TRUE(std::isnan(ess_bulk(chains_of(series)))) << draws;
    EXPECT_TRUE(std::isnan(ess_tail(chains_of(series)))) << draws;
    EXPECT_TRUE(std::isnan(ess_mean(chains_of(series)))) << draws;
  }
  EXPECT_TRUE(std::isnan(ess_bulk(Chains{})));
  for (std::size_t draws = 4; draws < 12; ++draws) {
    Series series = digits();
    for (auto& chain : series) chain.resize(draws);
    EXPECT_TRUE(std::isfinite(ess_bulk(chains_of(series)))) << draws;
  }
  // One pair of lags: rho_1 = 11/15, 8 / (-1 + 2 (1 + 11/15)).
  const Chains chains = chains_of(Series{{1, 2, 2, 3, 3, 4, 4, 5}});
  EXPECT_NEAR(ess_mean(chains), 8 / (-1 + 2 * (1 + 11.0 / 15)), 1e-12);
}

TEST(Ess, NotFiniteIsNaN) {
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    Series series = digits();
    series[1][3] = bad;
    EXPECT_TRUE(std::isnan(ess_bulk(chains_of(series))));
    EXPECT_TRUE(std::isnan(ess_tail(chains_of(series))));
    EXPECT_TRUE(std::isnan(ess_mean(chains_of(series))));
  }
}

// Direct sums, Fourier transforms and the definition, for lengths around the powers of two and the
// ends of the blocks.
TEST(LagSums, ThreeWaysAgree) {
  for (const int draws : {2, 4, 30, 63, 64, 65, 127, 448, 450, 1000, 2048, 2050}) {
    const Chains chains = chains_of(autoregression(17, 2, draws, 0.8));
    const Sequences halves = half_chains(chains);
    const std::size_t n = halves.length;
    Values direct(n), defined(n);
    halves.for_each([&](std::span<double> x) {
      centre(x);
      add_lag_sums(x, 0, direct);
      for (std::size_t k = 0; k < n; ++k) {
        for (std::size_t t = 0; t + k < n; ++t) defined[k] += x[t] * x[t + k];
      }
    });
    const Values transformed = all_lag_sums(halves);
    LagSums on_demand(halves);
    ASSERT_EQ(transformed.size(), n);
    for (std::size_t k = 0; k < n; ++k) {
      EXPECT_NEAR(direct[k], defined[k], 1e-13 * defined[0]) << draws << " draws, lag " << k;
      EXPECT_NEAR(transformed[k], direct[k], 1e-13 * defined[0]) << draws << " draws, lag " << k;
      EXPECT_NEAR(on_demand.at(k), direct[k], 1e-13 * defined[0]) << draws << " draws, lag " << k;
    }
  }
}

// Where the sum of a lag is not small by cancellation, its relative error is small as well.
TEST(LagSums, DirectAndTransformedAgreeRelatively) {
  const Chains chains = chains_of(autoregression(23, 2, 40000, 0.999));
  const Sequences halves = half_chains(chains);
  Values direct(600);
  halves.for_each([&](std::span<double> x) {
    centre(x);
    add_lag_sums(x, 0, direct);
  });
  const Values transformed = all_lag_sums(halves);
  for (std::size_t k = 0; k < direct.size(); ++k) {
    EXPECT_NEAR(transformed[k] / direct[k], 1, 1e-10) << "lag " << k;
  }
}

}  // namespace
}  // namespace saltus
