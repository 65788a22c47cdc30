// Observables: as plain chains of the same quantity; the best draw.
#include "saltus/diagnose/observables.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "saltus/diagnose/chains.hpp"
#include "series.hpp"

namespace saltus {
namespace {

constexpr int kChains = 4, kDim = 5;

// Levels and log p that follow from the place of a draw.
class MadeUpDraws final : public Draws {
 public:
  explicit MadeUpDraws(std::size_t draws) : draws_(draws) {
    info_.levels = 2;
    info_.first_value = -1;
    info_.spacing = 2;
  }
  static Symbol level(int chain, std::size_t draw, int i) {
    return static_cast<Symbol>((draw * 7 + draw / 3 * 5 + static_cast<std::size_t>(chain + i * i)) /
                               4 % 2);
  }
  static double logp_of(int chain, std::size_t draw) {
    return std::sin(static_cast<double>(draw * draw % 1009) + chain);
  }

  const DrawsInfo& info() const override { return info_; }
  int chains() const override { return kChains; }
  std::size_t draws() const override { return draws_; }
  int dim() const override { return kDim; }
  void read_states(int chain, std::size_t first, Rows<Symbol> x) const override {
    for (int r = 0; r < x.rows; ++r) {
      for (int i = 0; i < kDim; ++i) x[r][i] = level(chain, first + static_cast<std::size_t>(r), i);
    }
  }
  void read_logp(int chain, std::size_t first, std::span<double> logp) const override {
    for (double& v : logp) v = logp_of(chain, first++);
  }
  void read_acceptance(int, std::size_t, std::span<float>) const override {}

 private:
  DrawsInfo info_;
  std::size_t draws_;
};

// Whole numbers, so that rounding breaks no ties.
double sum_of_x(int chain, std::size_t draw) {
  double sum = 0;
  for (int i = 0; i < kDim; ++i) sum += 2 * MadeUpDraws::level(chain, draw, i) - 1;
  return sum;
}

Series series_of(std::size_t draws, double (*quantity)(int, std::size_t)) {
  Series series;
  for (int c = 0; c < kChains; ++c) {
    series.emplace_back();
    for (std::size_t t = 0; t < draws; ++t) series.back().push_back(quantity(c, t));
  }
  return series;
}

void expect_as_plain_chains(const ObservableSummary& s, const Series& series, double scale = 1) {
  const Chains chains = chains_of(series);
  EXPECT_NEAR(s.ess_bulk, ess_bulk(chains), 1e-9 * s.ess_bulk);
  EXPECT_NEAR(s.rhat, rhat(chains), 1e-12);
  EXPECT_NEAR(s.mcse, scale * mcse_mean(chains), 1e-9 * s.mcse);
}

TEST(Observables, AreDiagnosedAsPlainChains) {
  constexpr std::size_t kDraws = 500;
  const auto list = observe(MadeUpDraws(kDraws), Domain::spin(kDim));
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[0].name, "log p");
  expect_as_plain_chains(list[0], series_of(kDraws, MadeUpDraws::logp_of));
  EXPECT_EQ(list[1].name, "mean of x");
  expect_as_plain_chains(list[1], series_of(kDraws, sum_of_x), 1.0 / kDim);
}

TEST(Observables, UnorderedLevelsHaveNoMean) {
  const auto list = observe(MadeUpDraws(100), Domain::categorical(kDim, 3));
  ASSERT_EQ(list.size(), 1u);
  EXPECT_EQ(list[0].name, "log p");
}

TEST(Observables, OfLongChainsUseEveryFewDraws) {
  constexpr std::size_t kMany = 50'000;  // above the 20,000 that are read
  const auto list = observe(MadeUpDraws(kMany), Domain::spin(kDim));
  double sum = 0;
  for (const auto& chain : series_of(kMany, MadeUpDraws::logp_of)) {
    for (const double v : chain) sum += v;
  }
  EXPECT_NEAR(list[0].mean, sum / (kMany * kChains), 0.02);
  EXPECT_LT(list[0].ess_bulk, 4.0 * 20'000 * 3);
}

TEST(Observables, BestStateHasTheLargestLogp) {
  constexpr std::size_t kDraws = 9'000;  // several blocks
  const MadeUpDraws draws(kDraws);
  const BestDraw best = best_state(draws);
  for (int c = 0; c < kChains; ++c) {
    for (std::size_t t = 0; t < kDraws; ++t) {
      ASSERT_LE(MadeUpDraws::logp_of(c, t), best.logp);
    }
  }
  EXPECT_EQ(MadeUpDraws::logp_of(best.chain, best.draw), best.logp);
  for (int i = 0; i < kDim; ++i) {
    EXPECT_EQ(best.state[static_cast<std::size_t>(i)],
              MadeUpDraws::level(best.chain, best.draw, i));
  }
}

}  // namespace
}  // namespace saltus
