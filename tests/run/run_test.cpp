// Runs: the same draws however the work is split, exact answers, tuning, saving and restoring.
#include "saltus/run/run.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "saltus/core/error.hpp"
#include "saltus/run/draw_spool.hpp"
#include "saltus/run/moments.hpp"
#include "saltus/sampler/dlp.hpp"
#include "saltus/sampler/registry.hpp"
#include "saltus/target/ising_lattice.hpp"
#include "small_targets.hpp"

namespace saltus {
namespace {

DrawsInfo info_for(const Target& target) {
  DrawsInfo info;
  info.levels = target.domain().max_levels();
  info.shape = target.shape();
  return info;
}

struct Recorded {
  std::vector<Symbol> x;
  std::vector<double> logp;
  std::vector<float> acceptance;
  RunStatistics statistics;
  double step_size;
  bool operator==(const Recorded& other) const {
    return x == other.x && logp == other.logp && acceptance == other.acceptance &&
           step_size == other.step_size && statistics.acceptance == other.statistics.acceptance &&
           statistics.changed == other.statistics.changed;
  }
};

Recorded all_draws(const DrawSpool& spool, const saltus::Run& run) {
  Recorded r;
  const auto draws = spool.draws();
  for (int c = 0; c < spool.chains(); ++c) {
    RowBuffer<Symbol> x(static_cast<int>(draws), spool.dim());
    spool.read_states(c, 0, x.view());
    for (int t = 0; t < x.view().rows; ++t)
      r.x.insert(r.x.end(), x.view()[t], x.view()[t] + spool.dim());
    std::vector<double> logp(draws);
    std::vector<float> acceptance(draws);
    spool.read_logp(c, 0, logp);
    spool.read_acceptance(c, 0, acceptance);
    r.logp.insert(r.logp.end(), logp.begin(), logp.end());
    r.acceptance.insert(r.acceptance.end(), acceptance.begin(), acceptance.end());
  }
  r.statistics = run.statistics();
  r.step_size = run.sampler().step_size().value_or(0);
  return r;
}

RunPlan small_plan() {
  RunPlan plan;
  plan.chains = 7;
  plan.warmup = 200;
  plan.draws = 300;
  plan.thin = 2;
  plan.seed = 42;
  plan.tile = 3;
  plan.threads = 1;
  return plan;
}

Recorded record(const Target& target, const std::string& sampler, const Settings& settings,
                const RunPlan& plan) {
  DrawSpool spool(info_for(target), target.domain().dim(), plan.chains, {}, "");
  saltus::Run run(target, make_sampler(sampler, target, settings), plan);
  run.add(spool);
  run.start();
  EXPECT_TRUE(run.go());
  EXPECT_EQ(spool.draws(), plan.draws);
  return all_draws(spool, run);
}

Settings settings_for(const Target& target) {
  return target.domain().unbounded() ? Settings{{"window", "1"}} : Settings{};
}

TEST(RunTest, SameDrawsForAnyNumberOfThreads) {
  for (const SmallTarget& small : small_targets()) {
    const auto target = small.make();
    for (const char* sampler : {"dmala", "dula"}) {
      RunPlan plan = small_plan();
      const Recorded one = record(*target, sampler, settings_for(*target), plan);
      for (int threads : {2, 4}) {
        plan.threads = threads;
        EXPECT_TRUE(record(*target, sampler, settings_for(*target), plan) == one)
            << small.name << " " << sampler;
      }
      plan.threads = 1;
      plan.seed = 43;
      EXPECT_FALSE(record(*target, sampler, settings_for(*target), plan).x == one.x);
    }
  }
}

// The recorded logp is the logp of the recorded state.
TEST(RunTest, LogpBelongsToTheState) {
  for (const char* sampler : {"dmala", "dula"}) {
    for (const SmallTarget& small : small_targets()) {
      const auto target = small.make();
      const Recorded r = record(*target, sampler, settings_for(*target), small_plan());
      const auto dim = static_cast<std::size_t>(target->domain().dim());
      for (std::size_t t = 0; t < r.logp.size(); t += 17) {
        ASSERT_NEAR(r.logp[t], logp_of(*target, r.x.data() + t * dim), 2e-6) << small.name;
      }
    }
  }
}

// Stops after every round, saves, and goes on in a new run with a new spool file of the same name.
TEST(RunTest, SavedAndRestoredRunsGoOnAsIfNeverStopped) {
  const std::string path = testing::TempDir() + "saltus_run_test." + std::to_string(::getpid());
  for (const SmallTarget& small : small_targets()) {
    const auto target = small.make();
    for (const char* sampler : {"dmala", "dula"}) {
      RunPlan plan = small_plan();
      plan.warmup = 100;
      const Recorded whole = record(*target, sampler, settings_for(*target), plan);
      std::filesystem::remove(path);
      std::vector<std::byte> saved;
      bool done = false;
      for (int part = 0; !done; ++part) {
        plan.threads = 1 + part % 2;
        DrawSpool spool(info_for(*target), target->domain().dim(), plan.chains, {}, path);
        Moments moments(target->domain(), plan.chains, plan.draws, true);
        saltus::Run run(*target, make_sampler(sampler, *target, settings_for(*target)), plan);
        run.add(spool);
        run.add(moments);
        if (part == 0) {
          run.start();
        } else {
          ByteReader in(saved);
          run.restore(in);
          EXPECT_TRUE(in.empty());
        }
        int rounds = 0;
        const int rounds_of_part = 1 + 7 * (part % 4);
        done = run.go([&](const RunStatus&) { return ++rounds < rounds_of_part; });
        ByteWriter out;
        run.save(out);
        saved.assign(out.bytes().begin(), out.bytes().end());
        if (done) {
          EXPECT_TRUE(all_draws(spool, run) == whole) << small.name << " " << sampler;
          EXPECT_EQ(moments.draws(), plan.draws);
        }
      }
    }
  }
  std::filesystem::remove(path);
}

TEST(RunTest, RestoreRefusesWhatDoesNotFit) {
  const auto target = small_targets()[0].make();
  const auto make = [&] {
    return std::make_unique<saltus::Run>(*target, make_sampler("dmala", *target, {}), small_plan());
  };
  auto run = make();
  run->start();
  ByteWriter out;
  run->save(out);
  const std::vector<std::byte> good(out.bytes().begin(), out.bytes().end());
  for (std::size_t length = 0; length < good.size(); length += 5) {
    ByteReader in(std::span<const std::byte>(good).first(length));
    EXPECT_THROW(make()->restore(in), DataError) << length;
  }
  std::vector<std::byte> bad = good;
  bad[20] = std::byte{0xFF};  // a level that does not exist, inside the first chain's states
  ByteReader in(bad);
  EXPECT_THROW(make()->restore(in), DataError);
}

TEST(RunTest, TuningReachesTheAcceptanceGoal) {
  const IsingLattice target(10, 10, true, 0.1, 0.2);
  RunPlan plan;
  plan.chains = 8;
  plan.warmup = 2000;
  plan.draws = 4000;
  for (double start : {0.01, 0.2, 50.0}) {
    saltus::Run run(
        target,
        make_sampler("dmala", target, {{"step_size", std::to_string(start)}, {"adapt", "true"}}),
        plan);
    run.start();
    run.go();
    EXPECT_NEAR(run.statistics().acceptance, 0.574, 0.03) << "from " << start;
  }
}

// Where every step size is accepted too often, tuning ends at the largest and stays finite.
TEST(RunTest, TuningStopsAtTheTop) {
  const IsingLattice target(2, 2, true, 0.01, 0.0);
  saltus::Run run(target, make_sampler("dmala", target, {}), RunPlan{});
  run.start();
  run.go();
  EXPECT_TRUE(std::isfinite(*run.sampler().step_size()));
  EXPECT_GT(run.statistics().acceptance, 0.9);
}

TEST(RunTest, DulaDrawsWithHalfTheStepOfDmala) {
  const auto target = small_targets()[0].make();
  RunPlan plan;
  plan.warmup = 500;
  saltus::Run dmala(*target, make_sampler("dmala", *target, {}), plan),
      dula(*target, make_sampler("dula", *target, {}), plan);
  dmala.start(), dula.start();
  dmala.go(), dula.go();
  EXPECT_DOUBLE_EQ(*dula.sampler().step_size(), *dmala.sampler().step_size() / 2);
  EXPECT_EQ(dula.statistics().acceptance, 1);
  EXPECT_EQ(dula.statistics().accepted, 1);
}

// Among many classes half the step size would leave hardly any move: 3.0 against log 999 = 6.9.
TEST(RunTest, DulaDoesNotFreezeAmongManyClasses) {
  const Domain many = Domain::categorical(2, 1000), two = Domain::categorical(2, 2);
  const auto penalty = [](const Domain& domain, bool adjust, double dmala) {
    DlpOptions options;
    options.adjust = adjust, options.step_size = 1 / dmala, options.adapt = true;
    const Dlp dlp(domain, options);
    return 1 / *dlp.tuned(std::vector{dlp.tuning()[0].start}, Tunable::Phase::draws)->step_size();
  };
  EXPECT_NEAR(penalty(many, true, 3), 3, 1e-9);
  EXPECT_NEAR(penalty(many, false, 3), 3, 1e-9);
  EXPECT_NEAR(penalty(many, false, 8), 16 - std::log(999.0), 1e-9);
  EXPECT_NEAR(penalty(two, false, 3), 6, 1e-9);
}

TEST(RunTest, CountsEvaluations) {
  const auto target = small_targets()[0].make();
  RunPlan plan = small_plan();
  saltus::Run dmala(*target, make_sampler("dmala", *target, {}), plan);
  dmala.start();
  dmala.go();
  EXPECT_EQ(dmala.statistics().gradient_evaluations, 1);
  EXPECT_EQ(dmala.statistics().logp_evaluations, 1);
  // DULA needs no logp; with thin = 2 it is asked for with every second step.
  saltus::Run dula(*target, make_sampler("dula", *target, {}), plan);
  DrawSpool spool(info_for(*target), target->domain().dim(), plan.chains, {}, "");
  dula.add(spool);
  dula.start();
  dula.go();
  EXPECT_EQ(dula.statistics().gradient_evaluations, 1);
  EXPECT_EQ(dula.statistics().logp_evaluations, 0.5);
}

// The alpha table of the 5 x 5 model: acceptance and proposed changes within 0.01.
TEST(RunTest, AcceptanceAndChangesOnThe5x5Ising) {
  const IsingLattice target(5, 5, true, 0.1, 0.2);
  const double rows[][3] = {{0.1, 0.136, 0.999},
                            {0.2, 1.523, 0.937},
                            {0.4, 4.433, 0.688},
                            {0.6, 6.030, 0.539},
                            {1.0, 7.558, 0.409}};
  for (const auto& [step, proposed, acceptance] : rows) {
    RunPlan plan;
    plan.chains = 100;
    plan.draws = 4000;
    saltus::Run run(target, make_sampler("dmala", target, {{"step_size", std::to_string(step)}}),
                    plan);
    run.start();
    run.go();
    EXPECT_NEAR(run.statistics().proposed, proposed, 0.01) << step;
    EXPECT_NEAR(run.statistics().acceptance, acceptance, 0.01) << step;
  }
}

// DULA's exact stationary mean on the 5 x 5 model, by its closed form over all states: within 5
// standard errors of many chains.
TEST(RunTest, MeanOfDulaOnThe5x5Ising) {
  const IsingLattice target(5, 5, true, 0.1, 0.2);
  for (const auto& [step, exact] :
       {std::pair{0.2, .4231765072}, {0.4, .3154309115}, {0.6, .2627333603}}) {
    RunPlan plan;
    plan.chains = 64;
    plan.draws = 5000;
    Moments moments(target.domain(), plan.chains, plan.draws, true);
    saltus::Run run(target, make_sampler("dula", target, {{"step_size", std::to_string(step)}}),
                    plan);
    run.add(moments);
    run.start();
    run.go();
    double mean = 0, error = 0;
    for (std::size_t i = 0; i < 25; ++i) {
      mean += moments.mean()[i] / 25;
      error += std::sqrt(moments.variance()[i] / moments.ess()[i]) /
               25;  // an upper bound: sites are correlated
    }
    EXPECT_NEAR(mean, exact, 5 * error) << step;
    EXPECT_LT(error, 0.01);
  }
}

TEST(RunTest, StartsWhereTold) {
  const auto target = small_targets()[3].make();
  RunPlan plan;
  plan.chains = 2;
  plan.warmup = 0;
  plan.draws = 1;
  saltus::Run run(*target, make_sampler("dmala", *target, {{"step_size", "1e-4"}}), plan);
  RowBuffer<Symbol> start(2, 3);
  start.view()[0][1] = 1;
  run.start(start.view());
  run.go();
  EXPECT_EQ(run.state(0)[1], 1);
  EXPECT_EQ(run.state(1)[1], 0);
  start.view()[1][2] = 2;
  EXPECT_THROW(run.start(start.view()), DataError);
}

// The states before the first step, of chains that are all but frozen.
RowBuffer<Symbol> starts(const Target& target, Start start, int chains, int tile) {
  RunPlan plan;
  plan.chains = chains;
  plan.warmup = 0;
  plan.draws = 1;
  plan.tile = tile;
  plan.start = start;
  saltus::Run run(target, make_sampler("dmala", target, {{"step_size", "1e-9"}}), plan);
  run.go();
  const int dim = target.domain().dim();
  RowBuffer<Symbol> states(chains, dim);
  for (int c = 0; c < chains; ++c) std::copy_n(run.state(c), dim, states.view()[c]);
  return states;
}

TEST(RunTest, DispersedChainsStartLowHighAndAtRandom) {
  // So strong a coupling that sweeps change nothing where all spins are alike.
  const IsingLattice target(6, 6, true, 20, 0);
  for (const int tile : {1, 3, 8}) {
    const RowBuffer<Symbol> states = starts(target, Start::dispersed, 8, tile);
    const auto sum = [&](int c) {
      return std::accumulate(states.view()[c], states.view()[c] + 36, 0);
    };
    EXPECT_EQ(sum(0), 0);
    EXPECT_EQ(sum(1), 36);
    EXPECT_EQ(sum(4), 0);
    EXPECT_EQ(sum(5), 36);
  }
}

TEST(RunTest, SweepsLeadDispersedChainsAwayFromImpossibleStates) {
  // Spins that are held down by a field of 30: the chain that starts with all of them up would
  // flip 36 of them at once, or none.
  const IsingLattice target(6, 6, true, 0, -30);
  const RowBuffer<Symbol> states = starts(target, Start::dispersed, 4, 4);
  for (int c = 0; c < 4; ++c) {
    EXPECT_EQ(std::accumulate(states.view()[c], states.view()[c] + 36, 0), 0);
  }
}

TEST(RunTest, NonFiniteProposalsAreCountedRejections) {
  // States with all bits set are forbidden.
  const Function target(Domain::binary(3), [](std::span<const double> v, std::span<double> g) {
    for (double& e : g) e = 0;
    return v[0] + v[1] + v[2] == 3 ? -INFINITY : 0.0;
  });
  RunPlan plan;
  plan.chains = 4;
  DrawSpool spool(info_for(target), 3, plan.chains, {}, "");
  saltus::Run run(target, make_sampler("dmala", target, {{"step_size", "1"}}), plan);
  run.add(spool);
  RowBuffer<Symbol> zeros(4, 3);
  run.start(zeros.view());
  run.go();
  EXPECT_GT(run.statistics().nonfinite, 0u);
  const Recorded r = all_draws(spool, run);
  for (std::size_t t = 0; t + 2 < r.x.size(); t += 3)
    ASSERT_LT(r.x[t] + r.x[t + 1] + r.x[t + 2], 3);
  // A chain cannot start there.
  for (int c = 0; c < 4; ++c) std::fill_n(zeros.view()[c], 3, Symbol{1});
  EXPECT_THROW(run.start(zeros.view()), DataError);
}

// What DULA draws must not depend on whether anybody wants log p.
TEST(RunTest, RecordingDoesNotChangeTheDraws) {
  for (const SmallTarget& small : small_targets()) {
    const auto target = small.make();
    RunPlan plan = small_plan();
    const Recorded recorded = record(*target, "dula", settings_for(*target), plan);
    saltus::Run bare(*target, make_sampler("dula", *target, settings_for(*target)), plan);
    bare.start();
    bare.go();
    const auto dim = static_cast<std::size_t>(target->domain().dim());
    for (int c = 0; c < plan.chains; ++c) {
      const auto last = (static_cast<std::size_t>(c + 1) * plan.draws - 1) * dim;
      for (std::size_t i = 0; i < dim; ++i) EXPECT_EQ(bare.state(c)[i], recorded.x[last + i]);
    }
  }
}

// Kernels may take turns: an adjusted one after an unadjusted one finds a current logp, whether or
// not anybody asked the unadjusted one for it. With a stale one the first acceptance would be
// another.
TEST(EnsembleTest, LogpIsBroughtUpToDate) {
  class FirstAcceptance final : public StepObserver {
   public:
    explicit FirstAcceptance(bool wanted) : wanted_(wanted) {}
    bool wants_logp(std::uint64_t) const override { return wanted_; }
    void after_step(const Tile&, std::span<const StepInfo> info, std::uint64_t) override {
      for (const StepInfo& i : info) acceptance.push_back(i.acceptance);
    }
    std::vector<double> acceptance;

   private:
    bool wanted_;
  };
  const IsingLattice target(6, 6, true, 0.1, 0.2);
  const auto first_acceptance = [&](bool wanted) {
    Ensemble ensemble(target, 10, 0, 1, 5);
    ensemble.start_random();
    ensemble.evaluate();
    FirstAcceptance unadjusted(wanted), adjusted(wanted);
    ensemble.advance(*make_sampler("dula", target, {{"step_size", "0.5"}}), 100, unadjusted);
    ensemble.advance(*make_sampler("dmala", target, {{"step_size", "0.5"}}), 1, adjusted);
    return adjusted.acceptance;
  };
  EXPECT_EQ(first_acceptance(false), first_acceptance(true));
}

TEST(RunTest, MillionCoordinates) {
  const IsingLattice target(1000, 1000, true, 0.1, 0.2);
  RunPlan plan;
  plan.chains = 2;
  plan.warmup = 20;
  plan.draws = 20;
  Moments moments(target.domain(), plan.chains, plan.draws, false);
  saltus::Run run(target, make_sampler("dmala", target, {{"step_size", "0.07"}}), plan);
  run.add(moments);
  run.start();
  run.go();
  EXPECT_GT(run.statistics().acceptance, 0.05);
  EXPECT_EQ(moments.mean().size(), 1000000u);
}

TEST(RunTest, ARunThatWasNotStartedStartsItself) {
  const auto target = small_targets().front().make();
  const RunPlan plan = small_plan();
  const auto last_states = [&](bool start) {
    saltus::Run run(*target, make_sampler("dmala", *target, settings_for(*target)), plan);
    if (start) run.start();
    run.go();
    std::vector<Symbol> states;
    for (int c = 0; c < plan.chains; ++c) {
      states.insert(states.end(), run.state(c), run.state(c) + target->domain().dim());
    }
    return states;
  };
  EXPECT_EQ(last_states(false), last_states(true));
}

}  // namespace
}  // namespace saltus
