#include "report/run_series.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "io/memory_draws.hpp"

namespace saltus::report {
namespace {

DrawsInfo spins() {
  DrawsInfo info;
  info.shape = {3, 4};
  info.levels = 3;
  info.first_value = -1;
  info.spacing = 2;
  return info;
}

double value(const MemoryDraws& draws, int chain, std::size_t draw, int i) {
  return -1 + 2.0 * draws.state(chain, draw, i);
}

TEST(RunSeries, ColumnsAreMeansOverWindows) {
  const MemoryDraws draws(spins(), 3, 1234);
  const Columns columns = read_columns(draws, {5, 2}, 2);
  EXPECT_EQ(columns.window, 13U);
  ASSERT_EQ(columns.means.size(), 2U);
  ASSERT_EQ(columns.means[0].size(), 2U);
  const std::vector<double>& means = columns.means[1][1];  // coordinate 2, chain 1
  ASSERT_EQ(means.size(), 95U);
  for (std::size_t w = 0; w < means.size(); ++w) {
    const std::size_t last = std::min<std::size_t>(1234, 13 * w + 13);
    double sum = 0;
    for (std::size_t t = 13 * w; t < last; ++t) sum += value(draws, 1, t, 2);
    EXPECT_NEAR(means[w], sum / static_cast<double>(last - 13 * w), 1e-12);
  }
}

TEST(RunSeries, WindowsHaveMeanLeastAndGreatest) {
  const std::vector<double> values = {1, 5, 3, -2, 0, 8, 4};
  const Series s = over_windows(values, 3);
  EXPECT_EQ(s.x, (std::vector<double>{2, 5, 7}));
  EXPECT_EQ(s.y, (std::vector<double>{3, 2, 4}));
  EXPECT_EQ(s.low, (std::vector<double>{1, -2, 4}));
  EXPECT_EQ(s.high, (std::vector<double>{5, 8, 4}));
}

TEST(RunSeries, CountsLevelsOfAllChains) {
  const MemoryDraws draws(spins(), 3, 100);
  const Columns columns = read_columns(draws, {7}, 1);
  std::vector<std::uint64_t> counts(3);
  for (int c = 0; c < 3; ++c) {
    for (std::size_t t = 0; t < 100; ++t) ++counts[draws.state(c, t, 7)];
  }
  EXPECT_EQ(columns.counts[0], counts);
  EXPECT_EQ(columns.window, 1U);
  EXPECT_EQ(columns.means[0][0].size(), 100U);
}

TEST(RunSeries, HeldColumnHasTheValues) {
  const MemoryDraws draws(spins(), 2, 50);
  const Chains held = held_column(draws, 4);
  ASSERT_EQ(held.chains, 2);
  ASSERT_EQ(held.draws, 50U);
  std::vector<double> x(50);
  held.read(1, x);
  for (std::size_t t = 0; t < 50; ++t) EXPECT_EQ(x[t], value(draws, 1, t, 4));
}

TEST(RunSeries, AutocorrelationOfAnAlternation) {
  const Chains chains{2, 1000, [](int, std::span<double> out) {
                        for (std::size_t t = 0; t < out.size(); ++t) out[t] = t % 2 == 0 ? 3 : 1;
                      }};
  const std::vector<std::size_t> lags = {0, 1, 2, 7};
  const std::vector<double> rho = autocorrelation(chains, lags);
  EXPECT_NEAR(rho[0], 1, 1e-12);
  EXPECT_NEAR(rho[1], -1, 1e-12);
  EXPECT_NEAR(rho[2], 1, 1e-12);
  EXPECT_NEAR(rho[3], -1, 1e-12);
}

// Two chains that never leave the neighbourhood of different places.
TEST(RunSeries, AutocorrelationSeesChainsThatDisagree) {
  const Chains chains{2, 1000, [](int chain, std::span<double> out) {
                        for (std::size_t t = 0; t < out.size(); ++t) {
                          out[t] = (chain == 0 ? -10 : 10) + (t % 2 == 0 ? 1 : -1);
                        }
                      }};
  const std::vector<std::size_t> lags = {100, 101};
  const std::vector<double> rho = autocorrelation(chains, lags);
  EXPECT_NEAR(rho[0], 1, 1e-12);
  EXPECT_NEAR(rho[1], 99.0 / 101, 1e-12);
}

TEST(RunSeries, AutocorrelationOfAConstantIsNone) {
  const Chains chains{1, 10,
                      [](int, std::span<double> out) { std::fill(out.begin(), out.end(), 2.0); }};
  const std::vector<std::size_t> lags = {0, 1};
  EXPECT_TRUE(std::isnan(autocorrelation(chains, lags)[1]));
}

TEST(RunSeries, LagsReachAsFarAsTheCorrelation) {
  EXPECT_EQ(lags_for(1, 1000).back(), 40U);
  EXPECT_EQ(lags_for(20, 1000).back(), 80U);
  EXPECT_EQ(lags_for(1e9, 1000).back(), 498U);  // half of the draws, in steps of 3
  EXPECT_LE(lags_for(1e9, 1000000).size(), 201U);
  EXPECT_EQ(lags_for(std::nan(""), 10).back(), 9U);
  EXPECT_EQ(lags_for(5, 1), std::vector<std::size_t>{0});
}

}  // namespace
}  // namespace saltus::report
