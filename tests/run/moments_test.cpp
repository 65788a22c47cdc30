#include "saltus/run/moments.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "saltus/diagnose/chains.hpp"
#include "saltus/run/draw_spool.hpp"
#include "saltus/run/run.hpp"
#include "saltus/sampler/registry.hpp"
#include "saltus/target/ising_lattice.hpp"
#include "saltus/target/quadratic.hpp"

namespace saltus {
namespace {

// Running moments against the same numbers computed from the draws.
TEST(MomentsTest, AgreeWithTheDraws) {
  const Quadratic target("q", Domain::ordered(3, 6), {{0, 0, -0.2}, {0, 1, 0.1}, {1, 2, -0.1}},
                         {0.8, 0.2, 0});
  RunPlan plan;
  plan.chains = 3;
  plan.draws = 4000;
  Moments moments(target.domain(), plan.chains, plan.draws, true);
  DrawsInfo info;
  info.levels = 6;
  DrawSpool spool(info, 3, plan.chains, {}, "");
  saltus::Run run(target, make_sampler("dmala", target, {{"step_size", "1"}}), plan);
  run.add(moments);
  run.add(spool);
  run.start();
  run.go();
  for (int i = 0; i < 3; ++i) {
    RowBuffer<double> series(3, 4000);
    double sum = 0, square = 0;
    for (int c = 0; c < 3; ++c) {
      RowBuffer<Symbol> x(4000, 3);
      spool.read_states(c, 0, x.view());
      for (int t = 0; t < 4000; ++t) {
        const double v = series.view()[c][t] = x.view()[t][i];
        sum += v;
        square += v * v;
      }
    }
    const auto at = static_cast<std::size_t>(i);
    EXPECT_NEAR(moments.mean()[at], sum / 12000, 1e-12);
    EXPECT_NEAR(moments.variance()[at], (square - sum * sum / 12000) / 11999, 1e-10);
    EXPECT_NEAR(moments.split_rhat()[at], split_rhat(chains_of(series.view())), 1e-9);
    // Two estimators of one number: with 190 batches the batch means estimate has a relative
    // standard error of 10 %.
    EXPECT_NEAR(moments.ess()[at] / ess_mean(chains_of(series.view())), 1, 0.5);
  }
}

// Chains that sit in different modes are not independent draws, however many steps they take: the
// two spins are locked together and cross rarely.
TEST(MomentsTest, ChainsThatDisagreeHaveASmallEss) {
  const IsingLattice target(1, 2, false, 1.2, 0);
  RunPlan plan;
  plan.draws = 2000;
  plan.warmup = 0;
  Moments moments(target.domain(), plan.chains, plan.draws, true);
  saltus::Run run(target, make_sampler("dmala", target, {{"step_size", "0.2"}}), plan);
  run.add(moments);
  DrawSpool spool({}, 2, plan.chains, {}, "");
  run.add(spool);
  RowBuffer<Symbol> start(4, 2);
  for (int c = 0; c < 4; ++c) {
    start.view()[c][0] = start.view()[c][1] = static_cast<Symbol>(c % 2);
  }
  run.start(start.view());
  run.go();
  ASSERT_GT(moments.split_rhat()[0], 1.01);
  // The ESS from the draws themselves is the reference. Four chain means give their variance to
  // within a factor of about two; batch means alone are too hopeful by far more.
  RowBuffer<double> series(4, 2000);
  for (int c = 0; c < 4; ++c) {
    RowBuffer<Symbol> x(2000, 2);
    spool.read_states(c, 0, x.view());
    for (int t = 0; t < 2000; ++t) series.view()[c][t] = x.view()[t][0];
  }
  EXPECT_LT(moments.ess()[0], 3 * ess_mean(chains_of(series.view())));
}

TEST(MomentsTest, ConstantCoordinatesHaveNoEss) {
  const IsingLattice target(1, 2, false, 0.1, 40);  // both spins up, always
  RunPlan plan;
  plan.draws = 100;
  Moments moments(target.domain(), plan.chains, plan.draws, true);
  saltus::Run run(target, make_sampler("dmala", target, {{"step_size", "0.5"}}), plan);
  run.add(moments);
  run.start();
  run.go();
  EXPECT_EQ(moments.mean()[0], 1);
  EXPECT_TRUE(std::isnan(moments.ess()[0]));
  EXPECT_TRUE(std::isnan(moments.split_rhat()[0]));
}

}  // namespace
}  // namespace saltus
