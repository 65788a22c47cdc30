#include "saltus/anneal/ais.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "learn/small_models.hpp"
#include "saltus/core/error.hpp"
#include "saltus/diagnose/exact.hpp"
#include "saltus/learn/likelihood.hpp"
#include "saltus/sampler/registry.hpp"
#include "saltus/target/rbm.hpp"

namespace saltus {
namespace {

const Rbm& small_rbm() {
  static const Rbm rbm({.8, -1.2, .5, -.4, .9, 1.5}, {-.2, .4, -.6}, {.1, -.3});
  return rbm;
}

Tempered path() {
  return {small_rbm(), Independent::bernoulli(small_rbm().domain(), std::vector{.3, .6, .5})};
}

AisPlan short_plan() {
  AisPlan plan;
  plan.annealing.betas = linear_betas(300);
  plan.annealing.chains = 40;
  plan.annealing.seed = 5;
  plan.warmup = 200;
  return plan;
}

AisRun make(const AisPlan& plan, const Settings& settings = {{"step_size", "0.4"}}) {
  return {path(), make_sampler("dmala", path(), settings), plan};
}

std::unique_ptr<AisRun> made(const Settings& settings) {
  return std::make_unique<AisRun>(path(), make_sampler("dmala", path(), settings), short_plan());
}

// The one call of ais.hpp does the same work: its forward chains have the same random numbers.
TEST(AisRun, ForwardIsThatOfTheOneCall) {
  const AisPlan plan = short_plan();
  AisRun run = make(plan);
  ASSERT_TRUE(run.go());
  const auto other = annealed_importance_sampling(
      path(), make_sampler("dmala", path(), {{"step_size", "0.4"}}), plan);
  EXPECT_EQ(run.result().forward.log_weights, other->forward.log_weights);
  EXPECT_EQ(run.result().forward.acceptance, other->forward.acceptance);
}

TEST(AisRun, TheTwoDirectionsEnclose) {
  AisPlan plan = short_plan();
  plan.annealing.chains = 400;
  AisRun run = make(plan);
  EXPECT_FALSE(run.done());
  ASSERT_TRUE(run.go());
  EXPECT_TRUE(run.done());
  const AisResult r = run.result();
  const double exact = exact_answer(small_rbm()).log_z;
  EXPECT_NEAR(r.forward.log_z, exact, 4 * r.forward.standard_error);
  EXPECT_NEAR(r.reverse->log_z, exact, 4 * r.reverse->standard_error);
  EXPECT_LT(r.forward.standard_error, 0.01);
}

// Stopped at every stage and saved, a run goes on to the same weights, bit by bit.
TEST(AisRun, GoesOnAsIfNeverStopped) {
  for (const bool tuned : {false, true}) {
    const Settings settings = tuned ? Settings{} : Settings{{"step_size", "0.4"}};
    AisRun whole = make(short_plan(), settings);
    ASSERT_TRUE(whole.go());
    auto run = made(settings);
    int stops = 0;
    std::vector<bool> stages(3);
    while (!run->go([&](const AisStatus& s) {
      stages[static_cast<std::size_t>(s.stage)] = true;
      return false;
    })) {
      ByteWriter out;
      run->save(out);
      run = made(settings);
      ByteReader in(out.bytes());
      run->restore(in);
      EXPECT_TRUE(in.empty());
      ASSERT_LT(++stops, 1000);
    }
    EXPECT_GT(stops, 5);
    EXPECT_EQ(stages, std::vector(3, true));
    EXPECT_EQ(run->result().forward.log_weights, whole.result().forward.log_weights);
    EXPECT_EQ(run->result().reverse->log_weights, whole.result().reverse->log_weights);
    EXPECT_EQ(run->result().reverse->acceptance, whole.result().reverse->acceptance);
  }
}

TEST(AisRun, WithoutReverseThereIsNothingToWarmUp) {
  AisPlan plan = short_plan();
  plan.reverse = false;
  AisRun run = make(plan);
  ASSERT_TRUE(run.go([](const AisStatus& s) { return s.stage == AisStatus::Stage::forward; }));
  EXPECT_FALSE(run.result().reverse);
  EXPECT_EQ(run.result().high(), INFINITY);
}

// From states of the model itself even one step at beta = 1 is enough for the reverse direction;
// from draws of the base it is not.
TEST(AisRun, StartsTheReverseChainsFromGivenStates) {
  AisPlan plan = short_plan();
  plan.annealing.chains = 2000;
  plan.warmup = 1;
  // A base that is far from the model, and few betas: the start matters.
  const Tempered far(small_rbm(),
                     Independent::bernoulli(small_rbm().domain(), std::vector{.95, .05, .95}));
  plan.annealing.betas = linear_betas(3);
  const double exact = exact_answer(small_rbm()).log_z;
  const RowBuffer<Symbol> draws = exact_draws(small_rbm(), plan.annealing.chains, 3);
  AisRun given(far, make_sampler("dmala", far, {{"step_size", "0.2"}}), plan, draws.view());
  AisRun plain(far, make_sampler("dmala", far, {{"step_size", "0.2"}}), plan);
  ASSERT_TRUE(given.go() && plain.go());
  const AisEstimate good = *given.result().reverse, bad = *plain.result().reverse;
  EXPECT_NEAR(good.log_z, exact, 4 * good.standard_error);
  EXPECT_GT(std::abs(bad.log_z - exact), 10 * bad.standard_error);
}

TEST(AisRun, Refuses) {
  EXPECT_THROW(AisRun(path(), make_sampler("dula", path(), {{"step_size", "0.2"}}), short_plan()),
               UsageError);
  AisPlan plan = short_plan();
  plan.warmup = 0;
  EXPECT_THROW(make(plan), UsageError);
}

TEST(Likelihood, MeanLogp) {
  const RowBuffer<Symbol> data = exact_draws(small_rbm(), 77, 1);
  double sum = 0;
  for (int r = 0; r < 77; ++r) sum += logp_of(small_rbm(), data.view()[r]);
  EXPECT_NEAR(mean_logp(small_rbm(), data.view(), 2), sum / 77, 1e-6);
  EXPECT_EQ(mean_logp(small_rbm(), data.view(), 1), mean_logp(small_rbm(), data.view(), 2));
  EXPECT_THROW(mean_logp(small_rbm(), {}, 1), DataError);
  EXPECT_THROW(mean_logp(small_rbm(), RowBuffer<Symbol>(3, 4).view(), 1), DataError);
  data.view()[5][1] = 2;
  EXPECT_THROW(mean_logp(small_rbm(), data.view(), 1), DataError);
}

TEST(Likelihood, IntervalIsTurnedRound) {
  AisResult r;
  r.forward.log_z = 3, r.forward.standard_error = 0.5;
  EXPECT_EQ(log_likelihood(-10, r).high, -12);
  EXPECT_EQ(log_likelihood(-10, r).low, -INFINITY);
  r.reverse = r.forward;
  r.reverse->log_z = 4;
  EXPECT_EQ(log_likelihood(-10, r).low, -15);
  EXPECT_EQ(log_likelihood(-10, r).middle(), -13.5);
}

}  // namespace
}  // namespace saltus
