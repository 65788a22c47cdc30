// Every sampler on every small target, exactly; and a broken kernel, which must fail.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <memory>

#include "saltus/diagnose/conformance.hpp"
#include "saltus/sampler/registry.hpp"
#include "sampler_settings.hpp"
#include "small_targets.hpp"

namespace saltus {
namespace {

std::string text(const Settings& settings) {
  std::string all;
  for (const auto& [key, value] : settings) all += " " + key + "=" + value;
  return all;
}

class EverySampler : public testing::TestWithParam<SmallTarget> {};

TEST_P(EverySampler, IsExactOnEverySmallTarget) {
  const auto target = GetParam().make();
  const StateTable table(*target, GetParam().levels);
  for (const SamplerEntry& entry : sampler_entries()) {
    if (!serves(entry, *target)) continue;
    for (const Settings& settings : settings_of(entry.name, *target)) {
      SCOPED_TRACE(entry.name + text(settings));
      const auto sampler = make_sampler(entry.name, *target, settings);
      if (!sampler->enumerable()) continue;
      const Conformance c = check_transitions(*sampler, table);
      EXPECT_LT(c.rows, 1e-12);
      if (sampler->exact()) {
        EXPECT_LT(c.invariance, 1e-12);
        // Few changes at a time may not lead around forbidden states.
        const bool crosses = entry.name == "dmala" || entry.name == "dlmc";
        const bool parted = target->forbidden_states() && !crosses;
        EXPECT_TRUE(c.irreducible ? c.l1 < 1e-9 : may_be_reducible(settings) || parted);
      }
      if (sampler->reversible()) {
        EXPECT_LT(c.reversibility, 1e-12);
      }
    }
  }
}

// The steps that are really taken follow the matrix. With some hundred p-values at fixed seeds, one
// below 1e-5 is a fault, not chance.
TEST_P(EverySampler, TakesTheStepsThatItsMatrixSays) {
  const auto target = GetParam().make();
  const StateTable table(*target, GetParam().levels);
  const auto steps =
      static_cast<std::uint64_t>(std::max(256.0, 200000.0 / static_cast<double>(table.size())));
  for (const SamplerEntry& entry : sampler_entries()) {
    if (!serves(entry, *target)) continue;
    for (const Settings& settings : settings_of(entry.name, *target)) {
      SCOPED_TRACE(entry.name + text(settings));
      const auto sampler = make_sampler(entry.name, *target, settings);
      if (!sampler->enumerable()) continue;
      const StepCheck s = check_steps(*sampler, *target, table, steps);
      EXPECT_GT(s.p_value, 1e-5) << "chi-square " << s.chi_square << " on " << s.degrees;
      EXPECT_FALSE(s.impossible);
      // The smallest step size hardly ever moves among many levels.
      EXPECT_TRUE(s.degrees > 0 || find_setting(settings, "step_size") == "0.1");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, EverySampler, testing::ValuesIn(small_targets()),
                         [](const auto& p) { return p.param.name; });
INSTANTIATE_TEST_SUITE_P(ForbiddingTargets, EverySampler, testing::ValuesIn(forbidding_targets()),
                         [](const auto& p) { return p.param.name; });

// A sampler whose matrix is another one's with a change.
class Changed final : public Sampler, public Enumerable {
 public:
  using Change = std::function<void(const StateTable&, Rows<double>)>;
  Changed(const Sampler& base, Change change) : base_(base), change_(std::move(change)) {}
  std::string name() const override { return "changed"; }
  std::vector<Parameter> parameters() const override { return {}; }
  bool exact() const override { return true; }
  bool reversible() const override { return true; }
  void step(const Target& target, Tile& tile, Workspace& work,
            std::span<StepInfo> info) const override {
    base_.step(target, tile, work, info);
  }
  const Enumerable* enumerable() const override { return this; }
  void transition_matrix(const StateTable& table, const When& when, Rows<double> matrix,
                         std::span<double> acceptance) const override {
    base_.enumerable()->transition_matrix(table, when, matrix, acceptance);
    change_(table, matrix);
  }

 private:
  const Sampler& base_;
  Change change_;
};

// A Metropolis test without the reverse term: accepts with min(1, pi(y) / pi(x)).
void without_reverse_term(const StateTable& table, Rows<double> q) {
  for (int x = 0; x < q.rows; ++x) {
    double stay = 1;
    for (int y = 0; y < q.rows; ++y) {
      if (x == y) continue;
      const auto at = [&](int s) { return table.logp(static_cast<std::size_t>(s)); };
      q[x][y] *= std::exp(std::min(0.0, at(y) - at(x)));
      stay -= q[x][y];
    }
    q[x][x] = stay;
  }
}

TEST(Suite, RejectsAKernelWithoutItsReverseTerm) {
  for (const SmallTarget& small : small_targets()) {
    const auto target = small.make();
    // With independent two-level coordinates q is symmetric up to pi itself; skip where nothing is
    // lost.
    Settings settings{{"step_size", "0.7"}};
    if (target->domain().unbounded()) settings["window"] = "1";
    const StateTable table(*target, small.levels);
    const auto proposal = make_sampler("dula", *target, settings);
    const Conformance c = check_transitions(Changed(*proposal, without_reverse_term), table);
    EXPECT_LT(c.rows, 1e-12);
    EXPECT_GT(c.invariance, 1e-4) << small.name;
    EXPECT_GT(c.reversibility, 1e-5) << small.name;
  }
}

TEST(Suite, RejectsRowsThatDoNotSumToOne) {
  const auto target = small_targets()[0].make();
  const StateTable table(*target);
  const auto sampler = make_sampler("dmala", *target, {{"step_size", "0.5"}});
  const Changed lossy(*sampler, [](const StateTable&, Rows<double> m) { m[0][0] -= 1e-9; });
  EXPECT_GT(check_transitions(lossy, table).rows, 1e-10);
  const Changed negative(*sampler,
                         [](const StateTable&, Rows<double> m) { m[0][0] -= 1, m[0][1] += 1; });
  EXPECT_TRUE(std::isinf(check_transitions(negative, table).rows));
}

// DMALA's steps against DULA's matrix, and the other way round.
TEST(Suite, RejectsStepsThatDoNotFollowTheMatrix) {
  const auto target = small_targets()[0].make();
  const StateTable table(*target);
  const auto dmala = make_sampler("dmala", *target, {{"step_size", "0.8"}});
  const auto dula = make_sampler("dula", *target, {{"step_size", "0.8"}});
  const Changed wrong(*dmala, [&](const StateTable& t, Rows<double> m) {
    std::vector<double> acceptance(t.size());
    dula->enumerable()->transition_matrix(t, {}, m, acceptance);
  });
  EXPECT_LT(check_steps(wrong, *target, table, 20000).p_value, 1e-10);
}

// A model with forbidden states, and a window that reaches over the cut of an unbounded one.
TEST(Suite, ChecksStepsWhereNotEveryStateCounts) {
  const Function forbidden(Domain::binary(3), [](std::span<const double> v, std::span<double> g) {
    for (double& e : g) e = 0.3;
    return v[0] + v[1] + v[2] == 3 ? -INFINITY : 0.3 * (v[0] + v[1] + v[2]);
  });
  const auto dmala = make_sampler("dmala", forbidden, {{"step_size", "0.6"}});
  EXPECT_GT(check_steps(*dmala, forbidden, StateTable(forbidden), 20000).p_value, 1e-5);
  const Poisson counts({5.0, 5.0});
  const auto wide = make_sampler("dmala", counts, {{"step_size", "50"}, {"window", "12"}});
  const StepCheck s = check_steps(*wide, counts, StateTable(counts, 24), 500);
  EXPECT_GT(s.p_value, 1e-5);
  EXPECT_GT(s.steps, 0u);
}

// A window beyond the last level is no window, whatever its size.
TEST(Suite, HugeWindows) {
  const Quadratic target("q", Domain::ordered(2, 5), {{0, 0, -0.3}}, {1.0, 0.2});
  const StateTable table(target);
  for (const char* window : {"4", "100", "1073741824", "2147483647"}) {
    const auto sampler = make_sampler("dmala", target, {{"step_size", "2"}, {"window", window}});
    EXPECT_LT(check_transitions(*sampler, table).invariance, 1e-12);
    EXPECT_GT(check_steps(*sampler, target, table, 5000).p_value, 1e-5) << window;
  }
}

TEST(StationaryLaw, OfATwoStateChain) {
  RowBuffer<double> t(2, 2);
  t.view()[0][0] = 0.9, t.view()[0][1] = 0.1, t.view()[1][0] = 1e-12, t.view()[1][1] = 1 - 1e-12;
  const auto law = stationary_law(t.view());
  EXPECT_NEAR(law[0], 1e-11, 1e-21);
}

}  // namespace
}  // namespace saltus
