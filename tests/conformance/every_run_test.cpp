// Runs of every sampler on models of a few dozen coordinates: the same draws for any number of
// threads and after stops, and the recorded log p is that of the draw.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <memory>

#include "larger_targets.hpp"
#include "resume.hpp"
#include "saltus/compare/race.hpp"
#include "saltus/target/constrained.hpp"

namespace saltus {
namespace {

class EveryRun : public testing::TestWithParam<LargerTarget> {};

RunPlan plan_for(const Target& target) {
  RunPlan plan;
  plan.chains = 6;
  plan.tile = 3;
  plan.warmup = 40;
  plan.draws = 600;  // past the steps at which carried values are computed afresh
  plan.seed = 11;
  plan.threads = 1;
  if (target.domain().dim() > 300) plan.draws = 200;
  return plan;
}

TEST_P(EveryRun, DoesNotDependOnThreadsOrStops) {
  const auto target = GetParam().make();
  for (const Contender& c : all_contenders(*target)) {
    SCOPED_TRACE(c.label());
    RunPlan plan = plan_for(*target);
    const KeepDraws once = draws_of_one_run(*target, c.sampler, c.settings, plan);
    plan.threads = 2;
    const KeepDraws threads = draws_of_one_run(*target, c.sampler, c.settings, plan);
    EXPECT_EQ(once.states, threads.states);
    EXPECT_EQ(once.logp, threads.logp);
    const KeepDraws stops = draws_of_interrupted_runs(*target, c.sampler, c.settings, plan);
    EXPECT_EQ(once.states, stops.states);
    EXPECT_EQ(once.logp, stops.logp);
  }
}

TEST_P(EveryRun, RecordsTheLogpOfTheDraw) {
  const auto target = GetParam().make();
  const auto dim = static_cast<std::size_t>(target->domain().dim());
  for (const Contender& c : all_contenders(*target)) {
    SCOPED_TRACE(c.label());
    const KeepDraws draws = draws_of_one_run(*target, c.sampler, c.settings, plan_for(*target));
    bool moved = false;
    for (std::size_t chain = 0; chain < draws.states.size(); ++chain) {
      for (std::size_t t = 0; t < draws.logp[chain].size(); t += 37) {
        const double exact = logp_of(*target, draws.states[chain].data() + t * dim);
        ASSERT_NEAR(draws.logp[chain][t], exact, 1e-4 * (1 + std::abs(exact)));
        moved = moved || draws.logp[chain][t] != draws.logp[chain][0];
      }
    }
    EXPECT_TRUE(moved);
  }
}

std::unique_ptr<Target> under(std::unique_ptr<Target> model, const char* constraint) {
  const int dim = model->domain().dim();
  return std::make_unique<Constrained>(std::move(model), Constraint::parse(constraint, dim));
}

// Sparse and dense pairs, and hidden units, whose local moves keep values of their own.
std::vector<LargerTarget> constrained_targets() {
  using Made = std::unique_ptr<Target>;
  return {
      {"sum", [] { return under(Made(new IsingLattice(7, 5, true, 0.1, 0.1)), "sum=11"); }},
      {"range",
       [] {
         return under(make_ising(70, ring(70, 0.05, 20), some_numbers(70, 0.3, 2),
                                 Quadratic::Storage::dense),
                      "sum=5..30");
       }},
      {"hidden_sum",
       [] {
         return under(Made(new Rbm(some_numbers(400, 0.4, 4), some_numbers(20, 0.5, 5),
                                   some_numbers(20, 0.5, 6))),
                      "sum=6");
       }},
      {"sparse_sum",
       [] { return under(make_ising(60, ring(60, 0.4, 1), some_numbers(60, 0.3, 2)), "sum=20"); }},
      {"sparse_range",
       [] { return under(Made(new IsingLattice(20, 20, true, 0.3, 0.1)), "sum=150..160"); }},
      {"groups",
       [] {
         return under(Made(new Rbm(some_numbers(400, 0.4, 4), some_numbers(20, 0.5, 5),
                                   some_numbers(20, 0.5, 6))),
                      "one-hot=0-4,5-11,12-19");
       }},
      {"parity",
       [] {
         return under(make_ising(50, ring(50, 0.2, 2), some_numbers(50, 0.3, 1)), "parity=odd");
       }},
  };
}

INSTANTIATE_TEST_SUITE_P(ConstrainedTargets, EveryRun, testing::ValuesIn(constrained_targets()),
                         [](const auto& p) { return p.param.name; });
INSTANTIATE_TEST_SUITE_P(Targets, EveryRun, testing::ValuesIn(larger_targets()),
                         [](const auto& p) { return p.param.name; });

}  // namespace
}  // namespace saltus
