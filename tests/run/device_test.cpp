// Chains on a device: the same draws as without one, wherever a step is made.
#include <gtest/gtest.h>

#include "fake_device.hpp"
#include "resume.hpp"
#include "saltus/sampler/registry.hpp"
#include "small_targets.hpp"

namespace saltus {
namespace {

const Function& curved() {
  static const Function target(Domain::binary(3), curved_logp, "curved");
  return target;
}

RunPlan small_plan() {
  RunPlan plan;
  plan.chains = 5;
  plan.warmup = 60;
  plan.draws = 40;
  plan.thin = 3;
  plan.tile = 2;
  return plan;
}

const std::vector<std::pair<std::string, Settings>> kSamplers = {
    {"dmala", {{"step_size", "0.3"}}}, {"dmala", {}}, {"dula", {{"step_size", "0.2"}}},
    {"gwg", {{"flips", "1"}}},         {"gibbs", {}},
};

TEST(DeviceRun, MakesTheSameDraws) {
  const FakeDeviceTarget here(curved(), "");
  for (const auto& [sampler, settings] : kSamplers) {
    SCOPED_TRACE(sampler);
    const FakeDeviceTarget there(curved(), sampler);
    const KeepDraws expected = draws_of_one_run(here, sampler, settings, small_plan());
    const KeepDraws draws = draws_of_one_run(there, sampler, settings, small_plan());
    EXPECT_EQ(there.log.steps, 60u + 3u * 40u);
    EXPECT_EQ(there.log.states_sent, 40u);  // warm-up and thinned-out steps send none
    EXPECT_EQ(draws.states, expected.states);
    EXPECT_EQ(draws.logp, expected.logp);
  }
}

TEST(DeviceRun, ResumesWithTheSameDraws) {
  for (const auto& [sampler, settings] : kSamplers) {
    SCOPED_TRACE(sampler);
    const FakeDeviceTarget there(curved(), sampler);
    const KeepDraws expected = draws_of_one_run(there, sampler, settings, small_plan());
    const KeepDraws draws = draws_of_interrupted_runs(there, sampler, settings, small_plan());
    EXPECT_EQ(draws.states, expected.states);
    EXPECT_EQ(draws.logp, expected.logp);
  }
}

TEST(DeviceRun, CountsEvaluationsAlike) {
  const FakeDeviceTarget here(curved(), ""), there(curved(), "dmala");
  RunStatistics statistics[2];
  for (const FakeDeviceTarget* target : {&here, &there}) {
    saltus::Run run(*target, make_sampler("dmala", *target, {{"step_size", "0.3"}}), small_plan());
    run.start();
    ASSERT_TRUE(run.go());
    statistics[target == &there] = run.statistics();
  }
  EXPECT_EQ(statistics[1].acceptance, statistics[0].acceptance);
  EXPECT_EQ(statistics[1].logp_evaluations, 1);
  EXPECT_EQ(statistics[1].gradient_evaluations, 1);
}

class Watch final : public StepObserver {
 public:
  explicit Watch(int chains) : states(static_cast<std::size_t>(chains)) {}
  bool wants_logp(std::uint64_t) const override { return true; }
  void after_step(const Tile& tile, std::span<const StepInfo>, std::uint64_t) override {
    for (int r = 0; r < tile.rows(); ++r) {
      auto& of = states[tile.first_chain % states.size() + static_cast<std::size_t>(r)];
      of.insert(of.end(), tile.x[r], tile.x[r] + tile.x.cols);
      of.push_back(static_cast<Symbol>(tile.step));
    }
  }
  std::vector<std::vector<Symbol>> states;
};

// What the samplers did, one after the other, with everything that may happen in between.
std::vector<std::vector<Symbol>> mixed_steps(const Target& target, bool look, bool save) {
  constexpr int kChains = 4;
  auto ensemble = std::make_unique<Ensemble>(target, kChains, 3, 1, 17);
  ensemble->count_chains_from(40);
  ensemble->start_random();
  ensemble->evaluate();
  Watch watch(kChains);
  const char* order[] = {"dmala", "gwg",   "gwg",   "dmala", "gwg",
                         "dmala", "dmala", "gibbs", "dula",  "gwg"};
  for (const char* name : order) {
    const Settings settings = name[0] == 'd' ? Settings{{"step_size", "0.3"}} : Settings{};
    ensemble->advance(*make_sampler(name, target, settings), 7, watch);
    if (look) {
      for (int c = 0; c < kChains; ++c) {
        const auto& of = watch.states[static_cast<std::size_t>(c)];
        EXPECT_TRUE(std::equal(of.end() - 4, of.end() - 1, ensemble->state(c)));
      }
    }
    if (!save) continue;
    ByteWriter out;
    ensemble->save(out);
    ensemble = std::make_unique<Ensemble>(target, kChains, 3, 1, 17);
    ensemble->count_chains_from(40);
    ByteReader in(out.bytes());
    ensemble->restore(in);
    EXPECT_TRUE(in.empty());
  }
  return watch.states;
}

TEST(DeviceEnsemble, MixesStepsHereAndThere) {
  const FakeDeviceTarget here(curved(), "");
  const auto expected = mixed_steps(here, false, false);
  for (const char* served : {"dmala", "gwg", "gibbs", "dula", "none of them"}) {
    for (bool look : {false, true}) {
      for (bool save : {false, true}) {
        SCOPED_TRACE(std::string(served) + (look ? ", looked at" : "") + (save ? ", saved" : ""));
        const FakeDeviceTarget there(curved(), served);
        EXPECT_EQ(mixed_steps(there, look, save), expected);
      }
    }
  }
}

TEST(DeviceEnsemble, FetchesStatesOnlyWhenAskedFor) {
  const FakeDeviceTarget there(curved(), "dmala");
  Ensemble ensemble(there, 4, 0, 1, 3);
  ensemble.start_random();
  ensemble.evaluate();
  Watch watch(4);
  const auto dmala = make_sampler("dmala", there, {{"step_size", "0.3"}});
  ensemble.advance(*dmala, 5, watch);
  ensemble.advance(*dmala, 5, watch);
  EXPECT_EQ(there.log.puts, 1);
  EXPECT_EQ(there.log.gets, 0);
  ensemble.state(0), ensemble.state(1);
  EXPECT_EQ(there.log.gets, 1);
  ensemble.evaluate();  // as after a change of the parameters
  ensemble.advance(*dmala, 5, watch);
  EXPECT_EQ(there.log.puts, 1);
  EXPECT_EQ(there.log.evaluations, 2);
}

TEST(DeviceEnsemble, StartsFromGivenStates) {
  const FakeDeviceTarget here(curved(), ""), there(curved(), "dmala");
  RowBuffer<Symbol> start(2, 3);
  start.view()[1][2] = 1;
  std::vector<std::vector<Symbol>> states[2];
  for (const FakeDeviceTarget* target : {&here, &there}) {
    Ensemble ensemble(*target, 2, 0, 1, 3);
    Watch watch(2);
    const auto dmala = make_sampler("dmala", *target, {{"step_size", "0.3"}});
    for (int pass = 0; pass < 2; ++pass) {
      ensemble.start_from(start.view(), 100);
      ensemble.evaluate();
      ensemble.advance(*dmala, 5, watch);
    }
    states[target == &there] = watch.states;
  }
  EXPECT_EQ(states[1], states[0]);
}

// A path is the model only at its end.
TEST(DeviceTempered, IsOnTheDeviceAtBetaOne) {
  const FakeDeviceTarget there(curved(), "dmala");
  Tempered path(there, Independent::uniform(there.domain()));
  EXPECT_EQ(path.on_device(), there.on_device());
  path.set_beta(0.5);
  EXPECT_EQ(path.on_device(), nullptr);
}

// An ensemble that was made at beta = 1 does not go on there with another distribution.
TEST(DeviceTempered, LeavesTheDeviceWithBeta) {
  const FakeDeviceTarget here(curved(), ""), there(curved(), "dmala");
  std::vector<std::vector<Symbol>> states[2];
  for (const FakeDeviceTarget* target : {&here, &there}) {
    Tempered path(*target, Independent::uniform(target->domain()));
    Ensemble ensemble(path, 4, 0, 1, 3);
    ensemble.start_random();
    ensemble.evaluate();
    Watch watch(4);
    const auto dmala = make_sampler("dmala", path, {{"step_size", "0.3"}});
    ensemble.advance(*dmala, 5, watch);
    path.set_beta(0.1);
    ensemble.evaluate();
    ensemble.advance(*dmala, 20, watch);
    states[target == &there] = watch.states;
  }
  EXPECT_EQ(there.log.steps, 5u);
  EXPECT_EQ(states[1], states[0]);
}

// What groups of chains at several temperatures do, one of which changes on the way.
std::vector<std::vector<Symbol>> tempered_steps(const Target& target, bool save) {
  const auto base = std::make_shared<const Independent>(Independent::uniform(target.domain()));
  std::vector<ChainGroup> groups;
  for (double beta : {0.3, 0.7, 1.0}) groups.push_back({&target, 3, base, beta});
  auto ensemble = std::make_unique<Ensemble>(groups, EnsemblePlan{17, 1, 2});
  ensemble->start_random();
  ensemble->evaluate();
  Watch watch(9);
  for (const char* name : {"dmala", "gwg", "dmala", "dula"}) {
    const Settings settings = name[0] == 'd' ? Settings{{"step_size", "0.3"}} : Settings{};
    ensemble->advance(*make_sampler(name, target, settings), 7, watch);
    ensemble->set_beta(1, ensemble->beta(1) / 2);
    ensemble->advance(*make_sampler(name, target, settings), 7, watch);
    if (!save) continue;
    ByteWriter out;
    ensemble->save(out);
    ensemble = std::make_unique<Ensemble>(groups, EnsemblePlan{17, 1, 2});
    ByteReader in(out.bytes());
    ensemble->restore(in);
    EXPECT_TRUE(in.empty());
  }
  return watch.states;
}

TEST(DeviceTempered, GroupsStayOnTheDeviceAtEveryBeta) {
  const FakeDeviceTarget here(curved(), "");
  const auto expected = tempered_steps(here, false);
  for (const char* served : {"dmala", "gwg", "dula", "none of them"}) {
    for (bool save : {false, true}) {
      SCOPED_TRACE(std::string(served) + (save ? ", saved" : ""));
      const FakeDeviceTarget there(curved(), served);
      EXPECT_EQ(tempered_steps(there, save), expected);
      const std::uint64_t times = served == std::string("dmala") ? 2 : served[0] != 'n';
      EXPECT_EQ(there.log.steps, times * 14 * 3);  // of all three groups
    }
  }
}

TEST(DeviceTempered, ChangesBetaWithoutTheStates) {
  const FakeDeviceTarget there(curved(), "dmala");
  const auto base = std::make_shared<const Independent>(Independent::uniform(there.domain()));
  Ensemble ensemble({{&there, 4, base, 0.5}}, {});
  ensemble.start_random();
  ensemble.evaluate();
  Watch watch(4);
  const auto dmala = make_sampler("dmala", there, {{"step_size", "0.3"}});
  for (double beta : {0.2, 0.9, 1.0}) {
    ensemble.advance(*dmala, 5, watch);
    ensemble.set_beta(0, beta);
  }
  EXPECT_EQ(there.log.puts, 1);
  EXPECT_EQ(there.log.gets, 0);
  EXPECT_EQ(there.log.evaluations, 1);
}

}  // namespace
}  // namespace saltus
