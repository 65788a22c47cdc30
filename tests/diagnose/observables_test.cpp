// Observables: as plain chains of the same quantity; the best draw.
#include "saltus/diagnose/observables.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "saltus/diagnose/chains.hpp"
#include "saltus/target/ising_lattice.hpp"
#include "saltus/target/poisson.hpp"
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
  DrawsInfo& change() { return info_; }
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

double mean_of_x(int chain, std::size_t draw) {
  double sum = 0;
  for (int i = 0; i < kDim; ++i) sum += 2 * MadeUpDraws::level(chain, draw, i) - 1;
  return sum / kDim;
}

double product(int chain, std::size_t draw, int i, int other_chain, int j) {
  return (2 * MadeUpDraws::level(chain, draw, i) - 1) *
         (2 * MadeUpDraws::level(other_chain, draw, j) - 1);
}

double overlap(int pair, std::size_t draw) {
  double sum = 0;
  for (int i = 0; i < kDim; ++i) sum += product(2 * pair, draw, i, 2 * pair + 1, i);
  return sum / kDim;
}

// Over the bonds 0-1 and 3-4.
double neighbours(int chain, std::size_t draw) {
  return (product(chain, draw, 0, chain, 1) + product(chain, draw, 3, chain, 4)) / 2;
}

double own(int chain, std::size_t draw) {
  return mean_of_x(chain, draw) * mean_of_x(chain, draw) + MadeUpDraws::logp_of(chain, draw);
}

Series series_of(std::size_t draws, double (*quantity)(int, std::size_t), int chains = kChains) {
  Series series;
  for (int c = 0; c < chains; ++c) {
    series.emplace_back();
    for (std::size_t t = 0; t < draws; ++t) series.back().push_back(quantity(c, t));
  }
  return series;
}

double mean_of(const Series& series) {
  double sum = 0, count = 0;
  for (const auto& chain : series) {
    for (const double v : chain) sum += v, ++count;
  }
  return sum / count;
}

void expect_as_plain_chains(const ObservableSummary& s, const Series& series) {
  const Chains chains = chains_of(series);
  Series distances = series;
  for (auto& chain : distances) {
    for (double& v : chain) v = std::abs(v - s.mean);
  }
  EXPECT_NEAR(s.mean, mean_of(series), 1e-12) << s.name;
  EXPECT_NEAR(s.ess, ess_mean(chains), 1e-9 * s.ess) << s.name;
  EXPECT_NEAR(s.rhat, std::fmax(split_rhat(chains), split_rhat(chains_of(distances))), 1e-9)
      << s.name;
  EXPECT_NEAR(s.mcse, mcse_mean(chains), 1e-9 * s.mcse) << s.name;
}

// The sum of so many is not a whole number of them.
TEST(Observables, ThatAreHeldHaveTheirValueAndNoError) {
  Observed held{"mean of x", RowBuffer<double>(4, 200)};
  for (int c = 0; c < 4; ++c) std::fill_n(held.series.view()[c], 200, 0.3);
  const ObservableSummary s = summarise(held);
  EXPECT_EQ(s.mean, 0.3);
  EXPECT_EQ(s.sd, 0);
  EXPECT_TRUE(std::isnan(s.mcse) && std::isnan(s.ess) && std::isnan(s.rhat));
}

TEST(Observables, AreDiagnosedAsPlainChains) {
  constexpr std::size_t kDraws = 500;
  MadeUpDraws draws(kDraws);
  draws.change().bonds = {0, 1, 3, 4};
  const auto mine =
      parse_expressions({"mine = mean(x)^2 + logp"}, expression_space(draws.info(), draws.dim()));
  const auto list = observe(draws, mine);
  ASSERT_EQ(list.size(), 5u);
  EXPECT_EQ(list[0].name, "log p");
  expect_as_plain_chains(list[0], series_of(kDraws, MadeUpDraws::logp_of));
  EXPECT_EQ(list[1].name, "mean of x");
  expect_as_plain_chains(list[1], series_of(kDraws, mean_of_x));
  EXPECT_EQ(list[2].name, "overlap");
  EXPECT_TRUE(list[2].of_pairs);
  expect_as_plain_chains(list[2], series_of(kDraws, overlap, kChains / 2));
  EXPECT_EQ(list[3].name, "neighbours");
  expect_as_plain_chains(list[3], series_of(kDraws, neighbours));
  EXPECT_EQ(list[4].name, "mine");
  expect_as_plain_chains(list[4], series_of(kDraws, own));
}

// Of levels 0 and 1 the share of equal ones is (1 + q) / 2, q the mean product of the spins.
TEST(Observables, OfUnorderedLevelsAndBitsAreShares) {
  constexpr std::size_t kDraws = 100;
  const double q = mean_of(series_of(kDraws, overlap, kChains / 2)),
               c = mean_of(series_of(kDraws, neighbours));
  MadeUpDraws draws(kDraws);
  draws.change().bonds = {0, 1, 3, 4};
  draws.change().first_value = 0;
  draws.change().spacing = 1;
  const auto bits = observe(draws);
  ASSERT_EQ(bits.size(), 4u);
  EXPECT_NEAR(bits[2].mean, (1 + q) / 2, 1e-12);
  EXPECT_NEAR(bits[3].mean, (1 + c) / 2, 1e-12);
  draws.change().classes = {3};
  const auto classes = observe(draws);
  ASSERT_EQ(classes.size(), 3u);  // no mean of x
  EXPECT_EQ(classes[1].name, "overlap");
  EXPECT_NEAR(classes[1].mean, (1 + q) / 2, 1e-12);
  EXPECT_NEAR(classes[2].mean, (1 + c) / 2, 1e-12);
}

TEST(Observables, OfLongChainsUseEveryFewDraws) {
  constexpr std::size_t kMany = 50'000;  // above the 20,000 that are read
  for (const Reading reading : {Reading::thorough, Reading::quick}) {
    const std::size_t step = reading == Reading::thorough ? 3 : 25;
    const auto list = observe(MadeUpDraws(kMany), {}, reading);
    const auto expect_thinned = [&](const ObservableSummary& s, const Series& all) {
      Series thinned(all.size());
      for (std::size_t c = 0; c < all.size(); ++c) {
        for (std::size_t t = 0; t < kMany; t += step) thinned[c].push_back(all[c][t]);
      }
      EXPECT_NEAR(s.mean, mean_of(thinned), 1e-12) << s.name;
    };
    expect_thinned(list[0], series_of(kMany, MadeUpDraws::logp_of));
    expect_thinned(list[1], series_of(kMany, mean_of_x));
    expect_thinned(list[2], series_of(kMany, overlap, kChains / 2));
  }
}

TEST(Observables, BondsAreThoseOfSparseModels) {
  EXPECT_EQ(sparse_bonds(IsingLattice(2, 2, false, 0.1, 0)),
            (std::vector<int>{0, 1, 0, 2, 1, 3, 2, 3}));
  EXPECT_EQ(sparse_bonds(IsingLattice(5, 5, true, 0.1, 0)).size(), 2u * 50);
  EXPECT_TRUE(sparse_bonds(Poisson(std::vector<double>(3, 1.0))).empty());
}

TEST(Observables, BestStateHasTheLargestLogp) {
  constexpr std::size_t kDraws = 9'000;  // several blocks
  const MadeUpDraws draws(kDraws);
  const BestDraw best = best_state(draws).value();
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
