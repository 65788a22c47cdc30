#include "saltus/compare/race.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "saltus/core/error.hpp"
#include "saltus/target/ising_lattice.hpp"
#include "saltus/target/poisson.hpp"
#include "saltus/target/potts.hpp"
#include "saltus/target/quadratic.hpp"
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

TEST(Verdict, HasNoWinnerWhereNothingMixed) {
  std::vector<RaceResult> results = {made_up("a", 100, 0.03), made_up("b", 300, 0.04)};
  results[1].estimate.rhat = {1.02, 1.11};
  EXPECT_FALSE(results[1].mixed());
  EXPECT_EQ(judge(results).best, 0);  // the better figure is not to be trusted
  EXPECT_EQ(judge(results).second, -1);
  EXPECT_EQ(leader(results), 1);
  results[0].estimate.ess_of_means = RaceResult::kLeastEss - 1;
  EXPECT_EQ(judge(results).best, -1);
  results[1].estimate.rhat = {1.02, NAN};
  EXPECT_EQ(judge(results).best, 1);
  results[1].wrong = true;
  EXPECT_EQ(judge(results).best, -1);
}

TEST(Verdict, KnowsAnIntervalThatSaysNothing) {
  const auto between = [](double error) {
    return judge({made_up("a", 100, error), made_up("b", 110, error)});
  };
  EXPECT_FALSE(between(0.05).clear());
  EXPECT_TRUE(between(0.05).telling());  // 0.93 to 1.3
  EXPECT_FALSE(between(0.4).telling());  // 0.28 to 4.3
  EXPECT_FALSE(between(INFINITY).telling());
  EXPECT_FALSE(between(NAN).telling());
}

// Chains that stand still in different places are no effective draws, however lively the others.
TEST(Race, FrozenChainsDoNotMix) {
  std::vector<Coupling> couplings;
  constexpr int kSpins = 40;
  for (int i = 0; i < kSpins; ++i) {
    for (int j = 0; j < i; ++j) couplings.push_back({j, i, 1.5});
  }
  const auto frozen = make_ising(kSpins, couplings, std::vector<double>(kSpins, 0.01));
  const auto results = race(*frozen, {{"dmala", {}}, {"gibbs", {}}}, short_plan());
  for (const RaceResult& r : results) {
    EXPECT_FALSE(r.mixed()) << r.contender.label();
    EXPECT_EQ(r.rhat(), INFINITY);
  }
  EXPECT_EQ(judge(results).best, -1);
  EXPECT_NE(sign_of_modes(*frozen, results, static_cast<std::size_t>(leader(results))), "");
}

// What a command is printed from: the same sampler again, not tuned anew.
TEST(Race, SettingsMakeTheSamplerAgain) {
  const IsingLattice lattice(4, 4, true, 0.1, 0.2);
  const Poisson counts({2.0, 3.0});
  const auto rbm = rbm3();
  for (const Target* target :
       {static_cast<const Target*>(&lattice), static_cast<const Target*>(&counts),
        static_cast<const Target*>(rbm.get())}) {
    std::vector<Contender> field = all_contenders(*target);
    field.push_back({"dmala", {{"adapt", "true"}, {"step_size", "0.3"}}});
    field.push_back({"dmala+gwg", {{"dmala.step_size", "0.3"}, {"flips", "2"}}});
    if (target == &counts) field.back().settings["dmala.window"] = "2";
    RacePlan plan = short_plan();
    plan.seconds = plan.warmup_seconds = 0.005;
    for (const RaceResult& r : race(*target, field, plan)) {
      SCOPED_TRACE(target->name() + " " + r.contender.label());
      const auto again = make_sampler(r.contender.sampler, *target, r.settings());
      EXPECT_FALSE(again->tunable());
      const auto parameters = again->parameters();
      ASSERT_EQ(parameters.size(), r.parameters.size());
      for (std::size_t k = 0; k < parameters.size(); ++k) {
        if (parameters[k].name.ends_with("adapt")) continue;
        EXPECT_EQ(parameters[k].name, r.parameters[k].name);
        EXPECT_EQ(parameters[k].value, r.parameters[k].value) << parameters[k].name;
      }
    }
  }
}

// Chains that agree with one another, all in the same mode.
TEST(SignOfModes, AsksTheExactMeansOfASmallModel) {
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

}  // namespace
}  // namespace saltus
