// Sequences and mixes of samplers: exact on every small target, and nothing that one part keeps or
// leaves stale changes what another one does.
#include <gtest/gtest.h>

#include <cmath>

#include "larger_targets.hpp"
#include "long_run.hpp"
#include "resume.hpp"
#include "saltus/diagnose/conformance.hpp"
#include "saltus/sampler/composed.hpp"
#include "sampler_settings.hpp"
#include "small_targets.hpp"

namespace saltus {
namespace {

using Part = std::pair<std::string, Settings>;

// Every way of keeping values from step to step meets every other.
std::vector<std::vector<Part>> combinations() {
  const Part dmala{"dmala", {{"step_size", "0.6"}}}, gwg{"gwg", {{"flips", "1"}}};
  const Part gibbs{"gibbs", {{"scan", "systematic"}}}, sweep{"gibbs", {{"updates", "sweep"}}};
  const Part rwm{"rwm", {{"rate", "1.5"}}}, pas{"pas", {{"flips", "2"}}};
  const Part ball{"hamming_ball", {{"block", "2"}}}, exact{"locally_balanced", {}};
  return {{dmala, gwg}, {sweep, dmala}, {gibbs, gwg, rwm}, {exact, ball}, {gwg, pas, gwg}};
}

Composed::Parts make(const std::vector<Part>& combination, const Target& target) {
  Composed::Parts parts;
  const auto served = samplers_for(target);
  for (const auto& [name, settings] : combination) {
    if (std::find(served.begin(), served.end(), name) == served.end()) return {};
    parts.push_back(make_sampler(name, target, settings));
  }
  return parts;
}

void expect_right(const Sampler& sampler, const Target& target, const StateTable& table) {
  SCOPED_TRACE(sampler.name());
  const Conformance c = check_transitions(sampler, table);
  EXPECT_LT(c.rows, 1e-12);
  EXPECT_LT(c.invariance, 1e-12);
  EXPECT_TRUE(c.irreducible);
  EXPECT_LT(c.l1, 1e-9);
  if (sampler.reversible()) {
    EXPECT_LT(c.reversibility, 1e-12);
  }
  const auto steps =
      static_cast<std::uint64_t>(std::max(256.0, 100000.0 / static_cast<double>(table.size())));
  const StepCheck s = check_steps(sampler, target, table, steps);
  EXPECT_GT(s.p_value, 1e-5) << "chi-square " << s.chi_square << " on " << s.degrees;
  EXPECT_FALSE(s.impossible);
  EXPECT_GT(s.degrees, 0);
}

class EveryCombination : public testing::TestWithParam<SmallTarget> {};

TEST_P(EveryCombination, IsExact) {
  const auto target = GetParam().make();
  const StateTable table(*target, GetParam().levels);
  int tried = 0;
  for (const auto& combination : combinations()) {
    const Composed::Parts parts = make(combination, *target);
    if (parts.empty()) continue;
    expect_right(Sequence(parts), *target, table);
    std::vector<double> weights;
    for (std::size_t p = 0; p < parts.size(); ++p) weights.push_back(static_cast<double>(p + 1));
    expect_right(Mix(parts, weights), *target, table);
    ++tried;
  }
  EXPECT_GE(tried, 1);
}

INSTANTIATE_TEST_SUITE_P(Targets, EveryCombination, testing::ValuesIn(small_targets()),
                         [](const auto& p) { return p.param.name; });

// Nothing kept over: every step is the first one of an ensemble that evaluates its states.
class Watch final : public StepObserver {
 public:
  bool wants_logp(std::uint64_t) const override { return true; }
  void after_step(const Tile& tile, std::span<const StepInfo>, std::uint64_t) override {
    for (int r = 0; r < tile.rows(); ++r) {
      states.insert(states.end(), tile.x[r], tile.x[r] + tile.x.cols);
      logp.push_back(tile.logp[r]);
    }
  }
  std::vector<Symbol> states;
  std::vector<double> logp;
};

void expect_same_afresh(const Sampler& sampler, const Target& target) {
  SCOPED_TRACE(sampler.name());
  constexpr int kChains = 3;
  constexpr std::uint64_t kSteps = 300;
  Ensemble kept(target, kChains, kChains, 1, 5), fresh(target, kChains, kChains, 1, 5);
  kept.start_random();
  kept.evaluate();
  Watch one, many;
  const int dim = target.domain().dim();
  const RowBuffer<Symbol> x(kChains, dim);
  for (int r = 0; r < kChains; ++r) std::copy_n(kept.state(r), dim, x.view()[r]);
  kept.advance(sampler, kSteps, one);
  for (std::uint64_t step = 0; step < kSteps; ++step) {
    fresh.start_from(x.view(), step);
    fresh.evaluate();
    fresh.advance(sampler, 1, many);
    for (int r = 0; r < kChains; ++r) std::copy_n(fresh.state(r), dim, x.view()[r]);
  }
  EXPECT_EQ(one.states, many.states);
  for (std::size_t t = 0; t < one.logp.size(); ++t) {
    ASSERT_NEAR(one.logp[t], many.logp[t], 1e-3 * (1 + std::abs(many.logp[t]))) << t;
  }
}

class LargerCombination : public testing::TestWithParam<LargerTarget> {};

TEST_P(LargerCombination, KeepsNothingThatIsStale) {
  const auto target = GetParam().make();
  for (const auto& combination : combinations()) {
    const Composed::Parts parts = make(combination, *target);
    if (parts.empty()) continue;
    expect_same_afresh(Sequence(parts), *target);
    expect_same_afresh(Mix(parts, std::vector<double>(parts.size(), 1)), *target);
  }
}

TEST_P(LargerCombination, DoesNotDependOnThreadsOrStops) {
  const auto target = GetParam().make();
  RunPlan plan;
  plan.chains = 5;
  plan.tile = 2;
  plan.warmup = 40;
  plan.draws = 300;
  plan.threads = 1;
  Settings settings{{"updates", "2"}};
  if (target->domain().unbounded()) settings = {{"dmala.window", "1"}, {"gwg.window", "1"}};
  const char* name = target->domain().unbounded() ? "dmala+gwg" : "dmala+gwg+gibbs";
  const KeepDraws once = draws_of_one_run(*target, name, settings, plan);
  const KeepDraws stops = draws_of_interrupted_runs(*target, name, settings, plan);
  EXPECT_EQ(once.states, stops.states);
  EXPECT_EQ(once.logp, stops.logp);
}

INSTANTIATE_TEST_SUITE_P(Targets, LargerCombination, testing::ValuesIn(larger_targets()),
                         [](const auto& p) { return p.param.name; });

// The matrix of a mix is the weighted sum of its parts'; an unadjusted part is not hidden.
TEST(Mix, HasTheWeightedSumForMatrix) {
  const auto target = small_targets()[0].make();
  const StateTable table(*target);
  const Composed::Parts parts{make_sampler("dmala", *target, {{"step_size", "0.5"}}),
                              make_sampler("gwg", *target, {})};
  const int n = static_cast<int>(table.size());
  const RowBuffer<double> a(n, n), b(n, n), mixed(n, n);
  std::vector<double> acceptance(table.size());
  parts[0]->enumerable()->transition_matrix(table, {}, a.view(), acceptance);
  parts[1]->enumerable()->transition_matrix(table, {}, b.view(), acceptance);
  Mix(parts, {3, 1}).transition_matrix(table, {}, mixed.view(), acceptance);
  for (int x = 0; x < n; ++x) {
    for (int y = 0; y < n; ++y) {
      EXPECT_NEAR(mixed.view()[x][y], 0.75 * a.view()[x][y] + 0.25 * b.view()[x][y], 1e-15);
    }
  }
  const Composed::Parts biased{make_sampler("dula", *target, {{"step_size", "0.5"}}), parts[1]};
  EXPECT_FALSE(Mix(biased, {1, 1}).exact());
  EXPECT_GT(check_transitions(Mix(biased, {1, 1}), table).invariance, 1e-6);
}

// Without a matrix, by the frequencies of a long run: a chain that lives on more than its states
// starts from the law of the rest given the states. The bound is that of the other samplers.
TEST(Sequence, OfARelaxedSamplerVisitsStatesAsOftenAsItShould) {
  const auto target = small_targets()[0].make();
  const StateTable table(*target);
  RunPlan plan;
  plan.chains = 256;
  plan.warmup = 200;
  plan.draws = 4000;
  const Composed::Parts parts{make_sampler("rmala", *target, {{"step_size", "0.3"}}),
                              make_sampler("gwg", *target, {})};
  EXPECT_EQ(Sequence(parts).enumerable(), nullptr);
  const Deviation d = long_run(table, std::make_unique<Sequence>(parts), plan);
  EXPECT_LT(d.worst, 5);
  EXPECT_LT(d.standard_error, 0.004);
  const Deviation m = long_run(table, std::make_unique<Mix>(parts, std::vector{1.0, 1.0}), plan);
  EXPECT_LT(m.worst, 5);
}

}  // namespace
}  // namespace saltus
