// Samplers on targets of which some values are given: every one exactly, and those that use an
// ability of such a target by their steps.
#include <gtest/gtest.h>

#include "given_targets.hpp"
#include "saltus/diagnose/conformance.hpp"
#include "sampler_settings.hpp"

namespace saltus {
namespace {

class GivenSamplers : public testing::TestWithParam<SmallTarget> {};

TEST_P(GivenSamplers, AreExact) {
  const auto target = GetParam().make();
  const StateTable table(*target);
  for (const SamplerEntry& entry : sampler_entries()) {
    if (!serves(entry, *target)) continue;
    for (const Settings& settings : settings_of(entry.name, *target)) {
      SCOPED_TRACE(entry.name);
      const auto sampler = make_sampler(entry.name, *target, settings);
      if (!sampler->enumerable()) continue;
      const Conformance c = check_transitions(*sampler, table);
      EXPECT_LT(c.rows, 1e-12);
      if (sampler->exact()) {
        EXPECT_LT(c.invariance, 1e-12);
        EXPECT_TRUE(!c.irreducible || c.l1 < 1e-9);
      }
      if (sampler->reversible()) {
        EXPECT_LT(c.reversibility, 1e-12);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, GivenSamplers, testing::ValuesIn(some_given_targets()),
                         [](const auto& p) { return p.param.name; });

// The abilities: sweeps, hidden units, a cache beside evaluations nearby, and local moves.
TEST(GivenSamplersSteps, TakeTheStepsThatTheirMatricesSay) {
  const std::vector<std::pair<std::string, std::vector<std::string>>> used = {
      {"given_lattice", {"gibbs"}},       {"given_rbm", {"block_gibbs", "dmala", "gwg"}},
      {"given_curved", {"dmala"}},        {"given_potts", {"gibbs", "pas"}},
      {"given_ordered", {"dmala"}},       {"given_equal_bits", {"dmala"}},
      {"given_twice", {"dmala", "gibbs"}}};
  for (const SmallTarget& small : some_given_targets()) {
    const auto target = small.make();
    const StateTable table(*target);
    const auto samplers = std::ranges::find(used, small.name, &decltype(used)::value_type::first);
    ASSERT_NE(samplers, used.end());
    for (const std::string& name : samplers->second) {
      SCOPED_TRACE(small.name + " " + name);
      const Settings settings = name == "dmala" ? Settings{{"step_size", "0.6"}} : Settings{};
      const auto sampler = make_sampler(name, *target, settings);
      const auto steps = static_cast<std::uint64_t>(2e5 / static_cast<double>(table.size()));
      ASSERT_TRUE(sampler->enumerable());
      const StepCheck s = check_steps(*sampler, *target, table, steps);
      EXPECT_GT(s.p_value, 1e-5) << "chi-square " << s.chi_square << " on " << s.degrees;
      EXPECT_FALSE(s.impossible);
    }
  }
}

}  // namespace
}  // namespace saltus
