// Random-walk Metropolis: an exact acceptance rate, moves one by one, windows, tuning.
#include "saltus/sampler/rwm.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "dlp_helpers.hpp"
#include "saltus/core/error.hpp"
#include "saltus/run/run.hpp"
#include "saltus/sampler/registry.hpp"
#include "saltus/target/mini_batch.hpp"
#include "small_targets.hpp"

namespace saltus {
namespace {

Rwm rwm(const Domain& domain, double rate, int window = 0) {
  RwmOptions options;
  options.rate = rate;
  options.window = window;
  return Rwm(domain, options);
}

TEST(Rwm, RbmOfThreeBits) {
  const Rbm target({.8, -1.2, .5, -.4, .9, 1.5}, {-.2, .4, -.6}, {.1, -.3});
  const Rwm sampler = rwm(target.domain(), 1);
  EXPECT_NEAR(check_transitions(sampler, StateTable(target)).acceptance, .84237854, 1e-7);
}

// At a rate this low the steps go move by move where the target knows differences.
TEST(Rwm, FewChangesGoMoveByMove) {
  for (const SmallTarget& small : small_targets()) {
    const auto target = small.make();
    const StateTable table(*target, std::min(small.levels, 5));
    const Rwm sampler =
        rwm(target->domain(), 0.03 * target->domain().dim(), target->domain().unbounded() ? 1 : 0);
    const StepCheck s = check_steps(sampler, *target, table, 40000);
    EXPECT_GT(s.p_value, 1e-5) << small.name;
    EXPECT_FALSE(s.impossible) << small.name;
    EXPECT_GT(s.degrees, 7) << small.name;
  }
}

// A window on levels of which it does not reach all; the ends of the domain keep a coordinate.
TEST(Rwm, WindowOnOrderedLevels) {
  const Quadratic target("q", Domain::ordered({6, 2, 3}), {{0, 0, -0.1}, {0, 2, 0.2}},
                         {0.4, 0.3, -0.2});
  const StateTable table(target);
  for (const int window : {1, 2, 4, 5, 2147483647}) {
    for (const double rate : {0.05, 1.0, 2.5}) {
      const Rwm sampler = rwm(target.domain(), rate, window);
      const Conformance c = check_transitions(sampler, table);
      EXPECT_LT(c.reversibility, 1e-15);
      EXPECT_TRUE(c.irreducible);
      EXPECT_GT(check_steps(sampler, target, table, 20000).p_value, 1e-5) << window << " " << rate;
    }
  }
}

// Two bits that must agree, with local moves: the way between the two states leads through
// forbidden ones.
class Agreeing final : public Target, public LocalMoves {
 public:
  std::string name() const override { return "agreeing"; }
  const Domain& domain() const override { return domain_; }
  void evaluate(const At&, Rows<const Symbol> x, double* logp, Rows<float> score) const override {
    for (int r = 0; r < x.rows; ++r) {
      if (logp) logp[r] = log_p(x[r]);
      if (score) score[r][0] = score[r][1] = 0;
    }
  }
  const LocalMoves* local_moves() const override { return this; }
  bool moves_keep_score() const override { return false; }
  void differences(const LocalRow& row, int i, int first, int count, double* out) const override {
    for (int m = 0; m < count; ++m) {
      Symbol y[] = {row.x[0], row.x[1]};
      y[i] = static_cast<Symbol>(first + m);
      out[m] = log_p(y) - log_p(row.x);
    }
  }
  void move(const LocalRow& row, int i, Symbol to) const override { row.x[i] = to; }
  std::span<const std::int32_t> neighbours(int, std::int32_t*) const override { return all_; }
  int max_neighbours() const override { return 2; }

 private:
  static double log_p(const Symbol* x) { return x[0] == x[1] ? 0.7 * x[0] : -INFINITY; }
  Domain domain_ = Domain::binary(2);
  std::int32_t all_[2] = {0, 1};
};

TEST(Rwm, PathsThroughForbiddenStates) {
  const Agreeing target;
  const StateTable table(target);
  const StepCheck s = check_steps(rwm(target.domain(), 0.06), target, table, 300000);
  EXPECT_EQ(s.degrees, 2);
  EXPECT_GT(s.p_value, 1e-5);
}

struct CompareLogp final : StepObserver {
  explicit CompareLogp(const Target& t) : target(t) {}
  const Target& target;
  double worst = 0;
  std::uint64_t changed = 0;
  bool wants_logp(std::uint64_t) const override { return true; }
  void after_step(const Tile& tile, std::span<const StepInfo> info, std::uint64_t) override {
    EXPECT_TRUE(tile.logp_current);
    for (int r = 0; r < tile.rows(); ++r) {
      const StepInfo& done = info[static_cast<std::size_t>(r)];
      changed += done.changed;
      EXPECT_FALSE(done.changed && tile.score_current);
      worst = std::max(worst, std::abs(tile.logp[r] - logp_of(target, tile.x[r])));
    }
  }
};

TEST(Rwm, LogpFollowsTheMoves) {
  const IsingLattice target(20, 20, true, 0.13, 0.07);
  for (const double rate : {1.0, 9.0, 100.0}) {
    Ensemble ensemble(target, 3, 2, 1, 9);
    ensemble.start_random();
    ensemble.evaluate();
    CompareLogp compare(target);
    ensemble.advance(rwm(target.domain(), rate), 1000, compare);
    EXPECT_LT(compare.worst, 1e-10);
    EXPECT_GT(compare.changed, 100u);
    const Evaluations e = ensemble.evaluations();
    // Move by move: two fresh evaluations of three rows, after 400 and 800 steps.
    EXPECT_EQ(e.logp, rate < 10 ? 6u : 3006u);
    EXPECT_NEAR(static_cast<double>(e.local), rate < 10 ? 3000 * rate : 0,
                6 * std::sqrt(3000 * rate));
  }
}

// The mean acceptance probability differs in its last bits when carried log p is lost.
TEST(Rwm, SavedAndRestored) {
  const IsingLattice target(20, 20, true, 0.13, 0.07);
  const auto make = [&] {
    return std::make_unique<saltus::Run>(
        target, make_sampler("rwm", target, {}),
        RunPlan{.chains = 3, .warmup = 150, .draws = 200, .threads = 1});
  };
  auto whole = make();
  whole->start();
  whole->go();
  auto run = make();
  run->start();
  while (!run->go([](const RunStatus&) { return false; })) {
    ByteWriter out;
    run->save(out);
    run = make();
    ByteReader in(out.bytes());
    run->restore(in);
  }
  EXPECT_EQ(run->statistics().acceptance, whole->statistics().acceptance);
  for (int c = 0; c < 3; ++c) {
    EXPECT_TRUE(std::equal(run->state(c), run->state(c) + 400, whole->state(c)));
  }
}

TEST(Rwm, TuningReachesItsAcceptance) {
  const IsingLattice target(20, 20, true, 0.1, 0.1);
  RunPlan plan;
  plan.chains = 32;
  plan.warmup = 2000;
  plan.draws = 2000;
  plan.threads = 1;
  saltus::Run run(target, make_sampler("rwm", target, {}), plan);
  run.start();
  run.go();
  EXPECT_NEAR(run.statistics().acceptance, 0.237, 0.03);
}

// Where everything is accepted, tuning ends at fresh random levels, not at changing every
// coordinate.
TEST(Rwm, TuningOnAFlatModel) {
  const Bernoulli target(std::vector<double>(10));
  saltus::Run run(target, make_sampler("rwm", target, {}), RunPlan{.draws = 10, .threads = 1});
  run.start();
  run.go();
  EXPECT_NEAR(std::get<double>(run.sampler().parameters()[0].value), 5, 1e-9);
}

std::string refusal(const Target& target, const Settings& settings) {
  try {
    make_sampler("rwm", target, settings);
  } catch (const UsageError& e) {
    return e.what();
  }
  return "";
}

TEST(Rwm, RefusesInWords) {
  const MiniBatch estimate(Domain::binary(2), 4, 2,
                           [](std::span<const std::uint32_t>, std::span<const double>,
                              std::span<double>) { return 0.; });
  const std::string why = refusal(estimate, {});
  EXPECT_NE(why.find("rwm needs log p itself, not a mini-batch estimate"), std::string::npos);
  EXPECT_NE(why.find("these samplers run on it: dula"), std::string::npos);
  EXPECT_EQ(refusal(Poisson({1.0}), {}), "");  // the window is 1
  const Bernoulli bits({0, 1, 2});
  EXPECT_NE(refusal(bits, {{"rate", "0"}}).find("positive"), std::string::npos);
  EXPECT_NE(refusal(bits, {{"rate", "3"}}).find("below 3"), std::string::npos);
  EXPECT_NE(refusal(bits, {{"adapt", "false"}}).find("needs a rate"), std::string::npos);
  EXPECT_EQ(refusal(Bernoulli({1.0}), {{"rate", "1"}}), "");
}

}  // namespace
}  // namespace saltus
