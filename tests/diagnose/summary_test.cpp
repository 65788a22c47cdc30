#include "saltus/diagnose/summary.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "diagnose/columns/column_reader.hpp"
#include "level_draws.hpp"
#include "saltus/core/error.hpp"
#include "saltus/diagnose/chains.hpp"

namespace saltus {
namespace {

// Equal up to rounding, or both not a number, or both infinite.
void expect_same(double is, double wanted, double tolerance = 1e-9) {
  if (!std::isfinite(wanted)) {
    EXPECT_EQ(std::isnan(is), std::isnan(wanted)) << is;
    EXPECT_EQ(std::isinf(is), std::isinf(wanted)) << is;
    return;
  }
  EXPECT_NEAR(is, wanted, tolerance * std::max(1.0, std::abs(wanted)));
}

// The diagnostics of plain chains, which know nothing of levels, counts, bits and passes.
void expect_as_plain_chains(const LevelDraws& draws) {
  const std::vector<CoordinateSummary> all = summarise(draws, true, 2);
  ASSERT_EQ(all.size(), static_cast<std::size_t>(draws.dim()));
  for (int c = 0; c < draws.dim(); ++c) {
    SCOPED_TRACE("column " + std::to_string(c));
    const Chains chains = draws.values(c);
    const CoordinateSummary& s = all[static_cast<std::size_t>(c)];
    expect_same(s.ess_bulk, ess_bulk(chains));
    expect_same(s.ess_tail, ess_tail(chains));
    expect_same(s.mcse, mcse_mean(chains));
    expect_same(s.rhat, rhat(chains), 1e-12);
  }
}

// 0 and 1 become 2 and 5.
Series two_of_six(Series series) {
  for (auto& chain : series) {
    for (double& x : chain) x = x > 0 ? 5 : 2;
  }
  return series;
}

LevelDraws mixed(int chains, int draws) {
  const auto n = static_cast<std::size_t>(draws);
  return {{two_level(3, chains, draws, 0.3), level_walk(7, chains, draws),
           two_of_six(two_level(5, chains, draws, 0.1)),
           Series(static_cast<std::size_t>(chains), std::vector<double>(n, 4))},
          7};
}

TEST(Summary, AgreesWithPlainChains) {
  for (const int draws : {4, 5, 6, 7, 11, 12, 63, 127, 128, 129, 130, 257, 1000, 1001, 3001}) {
    SCOPED_TRACE(std::to_string(draws) + " draws");
    expect_as_plain_chains(mixed(3, draws));
    expect_as_plain_chains(LevelDraws({two_level(3, 2, draws, 0.3)}, 2));
  }
}

// Draws are read in blocks of 8192, half chain by half chain.
TEST(Summary, AgreesAroundTheEndsOfBlocks) {
  for (const int draws : {16383, 16384, 16385, 16386, 32767, 32768, 32770}) {
    SCOPED_TRACE(std::to_string(draws) + " draws");
    expect_as_plain_chains(mixed(2, draws));
    expect_as_plain_chains(LevelDraws({two_level(3, 2, draws, 0.3)}, 2));
  }
}

// Autocorrelation times from tens to thousands: passes for more lags, and transforms after those.
TEST(Summary, AgreesForSlowChains) {
  for (const double flip : {0.05, 0.01, 0.003, 0.0003}) {
    SCOPED_TRACE(flip);
    Series slow_walk = level_walk(7, 2, 30001);
    const Series level = two_level(11, 2, 30001, flip);
    for (std::size_t c = 0; c < 2; ++c) {
      for (std::size_t t = 0; t < 30001; ++t) slow_walk[c][t] += 4 * level[c][t];
    }
    expect_as_plain_chains(LevelDraws({level, slow_walk}, 11));
  }
}

TEST(Summary, StuckChains) {
  const Series stuck = {std::vector<double>(9000, 0), std::vector<double>(9000, 1)};
  const LevelDraws draws({stuck}, 2);
  expect_as_plain_chains(draws);
  EXPECT_TRUE(std::isinf(summarise(draws, false, 1)[0].rhat));
}

// Only the middle draw of an odd number differs: it counts for mean and sd, and for nothing else.
TEST(Summary, MiddleDraw) {
  Series series(1, std::vector<double>(9, 0));
  series[0][4] = 3;
  const CoordinateSummary s = summarise(LevelDraws({series}, 4), true, 1)[0];
  EXPECT_NEAR(s.mean, -1 + 2.0 * 3 / 9, 1e-14);
  EXPECT_NEAR(s.sd, 2 * std::sqrt((9 - 1.0) / 8), 1e-14);
  EXPECT_TRUE(std::isnan(s.ess_bulk));
  EXPECT_TRUE(std::isnan(s.rhat));
}

TEST(Summary, MeanAndErrors) {
  const LevelDraws draws({digits()}, 10);
  const CoordinateSummary s = summarise(draws, false, 1)[0];
  double sum = 0, squares = 0;
  for (const auto& chain : digits()) {
    for (const double x : chain) sum += -1 + 2 * x;
  }
  for (const auto& chain : digits()) {
    for (const double x : chain) squares += std::pow(-1 + 2 * x - sum / 36, 2);
  }
  EXPECT_NEAR(s.mean, sum / 36, 1e-13);
  EXPECT_NEAR(s.sd, std::sqrt(squares / 35), 1e-13);
  EXPECT_NEAR(s.mcse, s.sd / std::sqrt(s.ess_bulk), 1e-15);
  EXPECT_TRUE(std::isnan(s.ess_tail));
}

TEST(Summary, ShortRuns) {
  for (const int draws : {1, 2, 3}) {
    const CoordinateSummary s = summarise(
        LevelDraws({Series(2, std::vector<double>(static_cast<std::size_t>(draws), 1))}, 2), true,
        1)[0];
    EXPECT_EQ(s.mean, 1);
    EXPECT_EQ(s.sd, 0);
    EXPECT_TRUE(std::isnan(s.ess_bulk) && std::isnan(s.ess_tail) && std::isnan(s.rhat));
  }
}

// Every file format says something else about the levels that never occur.
TEST(Summary, LevelsThatNeverOccurChangeNoBit) {
  const std::vector<Series> columns = {level_walk(7, 2, 501), two_level(3, 2, 501, 0.2)};
  const auto exact = summarise(LevelDraws(columns, 7), true, 1);
  for (const int levels : {8, 256, 257, 65536}) {
    const auto more = summarise(LevelDraws(columns, levels), true, 1);
    for (std::size_t c = 0; c < 2; ++c) {
      EXPECT_EQ(more[c].ess_bulk, exact[c].ess_bulk) << levels;
      EXPECT_EQ(more[c].ess_tail, exact[c].ess_tail) << levels;
      EXPECT_EQ(more[c].rhat, exact[c].rhat) << levels;
      EXPECT_EQ(more[c].mean, exact[c].mean) << levels;
    }
  }
  // Of two levels it is known in the first pass already.
  EXPECT_EQ(summarise(LevelDraws({columns[1]}, 2), true, 1)[0].ess_bulk, exact[1].ess_bulk);
}

TEST(Summary, ThreadsChangeNoBit) {
  std::vector<Series> columns;
  for (std::uint64_t seed = 1; seed < 20; ++seed) columns.push_back(level_walk(seed, 2, 3000));
  const auto one = summarise(LevelDraws(columns, 7), false, 1);
  const auto three = summarise(LevelDraws(columns, 7), false, 3);
  for (std::size_t c = 0; c < columns.size(); ++c) {
    EXPECT_EQ(one[c].ess_bulk, three[c].ess_bulk);
    EXPECT_EQ(one[c].rhat, three[c].rhat);
  }
}

// More tables of counts than fit into memory at once: several groups of columns.
TEST(Summary, ManyColumnsWithManyLevels) {
  std::vector<Series> columns;
  for (std::uint64_t seed = 1; seed < 20; ++seed) columns.push_back(level_walk(seed, 2, 40));
  for (auto& series : columns) series[0][0] = 65535;
  expect_as_plain_chains(LevelDraws(columns, 65536));
}

TEST(ColumnReader, RangesOfColumns) {
  const int draws = 20000;
  Series a = level_walk(1, 2, draws), b = level_walk(2, 2, draws), c = level_walk(3, 2, draws);
  const LevelDraws from({a, b, c}, 7);
  const ColumnReader reader(from, {2, 0});
  for (const auto& [first, count] : std::vector<std::pair<std::size_t, std::size_t>>{
           {0, 20000}, {5, 8192}, {3, 8193}, {11808, 8192}, {19999, 1}, {70, 0}}) {
    std::size_t next = first;
    reader.read(1, first, count, [&](std::size_t draw, Rows<const Symbol> x) {
      ASSERT_EQ(draw, next);
      ASSERT_EQ(x.rows, 2);
      for (int t = 0; t < x.cols; ++t, ++next) {
        ASSERT_EQ(x[0][t], c[1][next]);
        ASSERT_EQ(x[1][t], a[1][next]);
      }
    });
    EXPECT_EQ(next, first + count);
  }
}

TEST(HeldColumns, ChainsOfLevels) {
  const Series a = level_walk(1, 2, 9001), b = level_walk(2, 2, 9001);
  const HeldColumns held(LevelDraws({a, b}, 7), {1, 0});
  std::vector<double> chain(9001);
  held.chains(0).read(1, chain);
  EXPECT_EQ(chain, b[1]);
  held.chains(1).read(0, chain);
  EXPECT_EQ(chain, a[0]);
}

// Says that it has more chains than half chains can be counted.
class TooManyChains final : public Draws {
 public:
  const DrawsInfo& info() const override { return info_; }
  int chains() const override { return 1 << 30; }
  std::size_t draws() const override { return 4; }
  int dim() const override { return 1; }
  void read_states(int, std::size_t, Rows<Symbol>) const override { ADD_FAILURE(); }
  void read_logp(int, std::size_t, std::span<double>) const override { ADD_FAILURE(); }
  void read_acceptance(int, std::size_t, std::span<float>) const override { ADD_FAILURE(); }

 private:
  DrawsInfo info_;
};

TEST(Summary, MoreChainsThanCanBeCountedAreRefused) {
  EXPECT_THROW(summarise(TooManyChains(), true), DataError);
}

}  // namespace
}  // namespace saltus
