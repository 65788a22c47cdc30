#include "saltus/compare/race.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "saltus/core/error.hpp"
#include "saltus/target/ising_lattice.hpp"
#include "saltus/target/poisson.hpp"
#include "saltus/target/potts.hpp"
#include "temper/models.hpp"

namespace saltus {
namespace {

RacePlan short_plan() {
  RacePlan plan;
  plan.chains = 4;
  plan.seconds = 0.04;
  plan.warmup_seconds = 0.02;
  plan.turns = 2;
  plan.threads = 1;
  return plan;
}

TEST(Contenders, AreReadFromText) {
  EXPECT_EQ(parse_contender("gwg").sampler, "gwg");
  const Contender c = parse_contender("dmala:step_size=0.3:distance=value");
  EXPECT_EQ(c.sampler, "dmala");
  EXPECT_EQ(c.settings, (Settings{{"step_size", "0.3"}, {"distance", "value"}}));
  EXPECT_EQ(c.label(), "dmala:distance=value:step_size=0.3");
  for (const char* bad : {"dmala:", "dmala:step_size", "dmala:=3", "dmala:step_size="}) {
    EXPECT_THROW(parse_contender(bad), UsageError) << bad;
  }
}

TEST(Contenders, AllCanBeMade) {
  const IsingLattice lattice(4, 4, true, 0.1, 0.2);
  const Poisson counts({2.0, 3.0});
  const Potts potts(Domain::categorical(2, 3), std::vector<double>(6), {});
  for (const Target* target :
       {static_cast<const Target*>(&lattice), static_cast<const Target*>(&counts),
        static_cast<const Target*>(&potts)}) {
    const auto all = all_contenders(*target);
    EXPECT_EQ(all.size(), samplers_for(*target).size());
    for (const Contender& c : all) EXPECT_NO_THROW(make_sampler(c.sampler, *target, c.settings));
  }
}

TEST(Race, MeasuresEveryContender) {
  const IsingLattice target(4, 4, true, 0.1, 0.2);
  std::vector<std::string> seen;
  const auto results = race(target, {{"dmala", {}}, {"dula", {{"step_size", "0.2"}}}}, short_plan(),
                            [&](const std::string& label, int, int) {
                              seen.push_back(label);
                              return true;
                            });
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(seen, (std::vector<std::string>{"dmala", "dula:step_size=0.2", "dmala",
                                            "dula:step_size=0.2"}));
  for (const RaceResult& r : results) {
    EXPECT_GT(r.ess(), 100);
    EXPECT_GT(r.draws, 100u);
    EXPECT_EQ(r.evaluations_per_step, 4);  // a gradient for each of four chains
    EXPECT_GT(r.statistics.idle_seconds_of_draws, 0);
    EXPECT_EQ(r.estimate.mean.size(), 16u);
    EXPECT_NEAR(r.ess_per_evaluation(), r.ess() / static_cast<double>(4 * r.statistics.steps),
                1e-9);
  }
  EXPECT_TRUE(results[0].exact);
  EXPECT_FALSE(results[1].exact);
}

TEST(Race, StopsWhenTold) {
  const IsingLattice target(4, 4, true, 0.1, 0.2);
  int calls = 0;
  const auto results = race(target, {{"dmala", {}}, {"dula", {{"step_size", "0.2"}}}}, short_plan(),
                            [&](const std::string&, int, int) { return ++calls < 1; });
  EXPECT_EQ(results.size(), 1u);
}

RaceResult made_up(const std::string& name, double ess, double error, bool exact = true) {
  RaceResult r;
  r.contender.sampler = name;
  r.exact = exact;
  r.estimate.ess_of_means = ess;
  r.log_ess_error = error;
  r.statistics.idle_seconds_of_draws = 1;
  r.statistics.steps = 10;
  r.evaluations_per_step = 1;
  return r;
}

TEST(Verdict, NamesTheBestExactOneAndTheUncertainty) {
  std::vector<RaceResult> results = {made_up("a", 100, 0.03), made_up("b", 300, 0.04),
                                     made_up("biased", 9000, 0.01, false)};
  Verdict v = judge(results);
  EXPECT_EQ(v.best, 1);
  EXPECT_EQ(v.second, 0);
  EXPECT_DOUBLE_EQ(v.ratio, 3);
  EXPECT_NEAR(std::log(v.high / v.ratio), 2.4 * 0.05, 1e-12);
  EXPECT_TRUE(v.clear());
  results[0].estimate.ess_of_means = 290;
  EXPECT_FALSE(judge(results).clear());
  results[0].estimate.ess_of_means = NAN;  // never moved
  v = judge(results);
  EXPECT_EQ(v.best, 1);
  EXPECT_EQ(v.second, -1);
  EXPECT_EQ(judge({}).best, -1);
  results[1].random = false;
  EXPECT_EQ(judge(results).best, -1);
}

TEST(Choose, TempersWhereChainsDisagreeAndOnlyThere) {
  RunPlan plan;
  plan.threads = 1;
  const auto modes = ferro8();
  const Choice choice = choose_sampler(*modes, plan, 0.4);
  EXPECT_TRUE(choice.winner.tempered) << choice.reason();
  EXPECT_NE(choice.reason().find("tempered, because plain chains"), std::string::npos);
  EXPECT_GT(choice.results.back().replicas, 2);
  EXPECT_GT(choice.results.back().round_trips, 0u);
  EXPECT_FALSE(choose_sampler(*modes, plan, 0.4, {.allowed = false}).winner.tempered);
  const IsingLattice one_mode(4, 4, true, 0.1, 0.2);
  const Choice plain = choose_sampler(one_mode, plan, 0.4);
  EXPECT_FALSE(plain.winner.tempered) << plain.reason();
  EXPECT_EQ(plain.modes, "");
}

// Chains that agree with one another, all in the same mode.
TEST(Choose, AsksTheExactMeansOfASmallModel) {
  const auto model = ferro8();
  RaceResult r;
  r.coordinates = {0, 1};
  r.estimate.mean = {-.998, -.998};
  r.estimate.ess = {2e4, 2e4};
  r.estimate.rhat = {1.0003, 1.0003};
  EXPECT_EQ(sign_of_modes(*model, {r}, 0), "plain chains miss the exact means");
  r.estimate.mean = {.3787, .3790};
  EXPECT_EQ(sign_of_modes(*model, {r}, 0), "");
  r.estimate.rhat[1] = 3.214;
  EXPECT_EQ(sign_of_modes(*model, {r}, 0), "plain chains disagree (R-hat 3.21)");
  RaceResult good = r;
  good.estimate.rhat[1] = 1;
  EXPECT_EQ(sign_of_modes(*model, {r, good}, 1), "");
  EXPECT_EQ(sign_of_modes(*model, {r, good, r}, 1), "plain chains of 2 of 3 samplers disagree");
}

TEST(Race, TemperedContenders) {
  const auto model = ferro8();
  RacePlan plan = short_plan();
  plan.seconds = 0.2;
  RaceResult dmala, rmala;
  dmala.contender = {"dmala", {}};
  rmala.contender = {"rmala", {}};
  EXPECT_FALSE(race_tempered(*model, {rmala}, plan));
  const auto r = race_tempered(*model, {rmala, dmala}, plan);
  ASSERT_TRUE(r);
  EXPECT_EQ(r->contender.label(), "dmala tempered");
  EXPECT_GT(r->round_trips, 0u);
  // All replicas count.
  EXPECT_NEAR(r->evaluations_per_step, plan.chains * (r->replicas - 0.5), 0.5 * plan.chains);
  EXPECT_FALSE(race_tempered(Poisson({2.0, 3.0}), {dmala}, plan));
}

TEST(Choose, TakesAnExactSamplerThatServes) {
  const IsingLattice target(6, 6, true, 0.1, 0.2);
  RunPlan plan;
  plan.threads = 1;
  const Choice choice = choose_sampler(target, plan, 0.1);
  const auto names = samplers_for(target);
  EXPECT_TRUE(std::count(names.begin(), names.end(), choice.winner.sampler));
  EXPECT_TRUE(make_sampler(choice.winner.sampler, target, choice.winner.settings)->exact());
  EXPECT_EQ(choice.results.back().contender.label(), choice.winner.label());
  EXPECT_FALSE(choice.reason().empty());
  for (const RaceResult& r : choice.results) EXPECT_TRUE(r.exact);
}

}  // namespace
}  // namespace saltus
