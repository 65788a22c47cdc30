#include "saltus/diagnose/chains.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "series.hpp"

namespace saltus {
namespace {

// Reference values: see series.hpp.
TEST(Mcse, ReferenceValues) {
  EXPECT_NEAR(mcse_mean(chains_of(digits())), 0.38093533084066966, 1e-12);
  EXPECT_NEAR(mcse_mean(chains_of(level_walk(7, 3, 61))), 0.50827627808295806, 1e-12);
  EXPECT_NEAR(mcse_mean(chains_of(autoregression(5, 4, 100, -0.3))), 0.011601963385384832, 1e-13);
}

// Chain means that differ widen the standard deviation of all draws together.
TEST(Mcse, ChainsThatDisagree) {
  Series series = autoregression(11, 4, 100, 0.5);
  for (double& x : series[3]) x += 1;
  EXPECT_NEAR(mcse_mean(chains_of(series)), 0.20221903615058237, 1e-12);
}

// The means of many two-level chains must scatter by as much as the error of one of them says:
// 400 chains give the scatter to sqrt(1/800), 3.5 %, and the errors vary by less; four standard
// errors of the scatter.
TEST(Mcse, PredictsTheScatterOfMeans) {
  constexpr int kRuns = 400;
  double squares = 0, predicted = 0;
  for (const auto& chain : two_level(77, kRuns, 4000, 0.2)) {
    double mean = 0;
    for (const double x : chain) mean += x / static_cast<double>(chain.size());
    squares += (mean - 0.5) * (mean - 0.5) / kRuns;
    const double error = mcse_mean(chains_of(Series{chain}));
    predicted += error * error / kRuns;
  }
  EXPECT_NEAR(std::sqrt(squares / predicted), 1, 4 * std::sqrt(1.0 / (2 * kRuns)));
}

TEST(Mcse, UndefinedIsNaN) {
  EXPECT_TRUE(std::isnan(mcse_mean(chains_of(Series(2, std::vector<double>(20, 0.1))))));
  EXPECT_TRUE(std::isnan(mcse_mean(chains_of(Series{{1, 2, 3}}))));
}

}  // namespace
}  // namespace saltus
