// Block Gibbs sampling of RBMs.
#include "saltus/sampler/block_gibbs.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "dlp_helpers.hpp"
#include "saltus/core/error.hpp"
#include "saltus/run/ensemble.hpp"
#include "saltus/sampler/registry.hpp"
#include "saltus/target/ising_lattice.hpp"
#include "saltus/target/rbm.hpp"

namespace saltus {
namespace {

Rbm three_bits() {
  return Rbm({.8, -1.2, .5, -.4, .9, 1.5}, {-.2, .4, -.6}, {.1, -.3});
}

TEST(BlockGibbs, RbmOfThreeBits) {
  const Rbm target = three_bits();
  const StateTable table(target);
  const Matrix t(BlockGibbs(), table);
  const double row[] = {.0951123186, .1145545534, .1154784016, .1628382836,
                        .1183339539, .1389990037, .1082001521, .1464833331};
  for (int y = 0; y < 8; ++y) EXPECT_NEAR(t(0, y), row[y], 1e-9);
}

// More than 64 units of either kind, and log-odds far beyond where exp overflows: coordinate i is
// 1 exactly when its hidden unit is on, which it is when the coordinate was 1.
TEST(BlockGibbs, ExtremeLogOdds) {
  const int dim = 70;
  std::vector<double> weights(dim * dim);
  for (std::size_t i = 0; i < dim; ++i) weights[i * dim + i] = 4000;
  const Rbm target(weights, std::vector<double>(dim, -2000.0), std::vector<double>(dim, -2000.0));
  Ensemble ensemble(target, 3, 0, 1, 5);
  ensemble.start_random();
  ensemble.evaluate();
  std::vector<std::vector<Symbol>> before;
  for (int c = 0; c < 3; ++c) before.emplace_back(ensemble.state(c), ensemble.state(c) + dim);
  struct : StepObserver {
    bool wants_logp(std::uint64_t) const override { return false; }
    void after_step(const Tile& tile, std::span<const StepInfo> info, std::uint64_t) override {
      EXPECT_FALSE(tile.logp_current || tile.score_current || tile.target_cache_current);
      for (const StepInfo& done : info) {
        EXPECT_EQ(done.changed, 0u);
        EXPECT_EQ(done.proposed, 70u);
        EXPECT_FALSE(done.nonfinite);
      }
    }
  } observer;
  ensemble.advance(BlockGibbs(), 20, observer);
  for (int c = 0; c < 3; ++c) {
    const auto& b = before[static_cast<std::size_t>(c)];
    EXPECT_TRUE(std::equal(b.begin(), b.end(), ensemble.state(c)));
  }
  EXPECT_EQ(ensemble.evaluations().gradient, 60u);
  EXPECT_EQ(ensemble.evaluations().logp, 0u);
}

// log p where it is asked for, and only there.
TEST(BlockGibbs, LogpBelongsToTheState) {
  const Rbm target = three_bits();
  Ensemble ensemble(target, 5, 2, 1, 5);
  ensemble.start_random();
  ensemble.evaluate();
  struct Check final : StepObserver {
    const Target& target;
    int changed = 0;
    explicit Check(const Target& t) : target(t) {}
    bool wants_logp(std::uint64_t step) const override { return step % 2 == 1; }
    void after_step(const Tile& tile, std::span<const StepInfo> info, std::uint64_t step) override {
      EXPECT_EQ(tile.logp_current, step % 2 == 1);
      for (int r = 0; r < tile.rows(); ++r) {
        changed += static_cast<int>(info[static_cast<std::size_t>(r)].changed);
        if (!tile.logp_current) continue;
        EXPECT_NEAR(tile.logp[r], logp_of(target, tile.x[r]), 1e-6);
      }
    }
  } check(target);
  ensemble.advance(BlockGibbs(), 40, check);
  EXPECT_GT(check.changed, 100);
  EXPECT_EQ(ensemble.evaluations().logp, 100u);
}

TEST(BlockGibbs, RefusesInWords) {
  const IsingLattice lattice(3, 3, true, 0.1, 0);
  try {
    make_sampler("block_gibbs", lattice, {});
    FAIL();
  } catch (const UsageError& e) {
    const std::string why = e.what();
    EXPECT_NE(why.find("sampler block_gibbs needs hidden units given which the coordinates are "
                       "independent, which the model ising-lattice does not have"),
              std::string::npos);
    EXPECT_NE(why.find("these samplers run on it: dmala"), std::string::npos);
    EXPECT_EQ(why.find("block_gibbs", why.find("work here")), std::string::npos);
  }
  const Rbm wide(std::vector<double>(17), {0.0}, std::vector<double>(17));
  const StateTable table(wide);
  EXPECT_THROW(Matrix(BlockGibbs(), table), UsageError);
}

}  // namespace
}  // namespace saltus
