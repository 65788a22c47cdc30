// Exact samplers without a transition matrix: the frequencies of states in a long run.
#include "long_run.hpp"

#include <gtest/gtest.h>

#include "saltus/sampler/registry.hpp"
#include "sampler_settings.hpp"
#include "small_targets.hpp"

namespace saltus {
namespace {

class EverySamplerWithoutMatrix : public testing::TestWithParam<SmallTarget> {};

// Among the few hundred frequencies of all targets, one beyond 5 standard errors is a fault, not
// chance.
TEST_P(EverySamplerWithoutMatrix, VisitsStatesAsOftenAsTheirProbabilitySays) {
  const auto target = GetParam().make();
  const StateTable table(*target);
  RunPlan plan;
  plan.chains = 256;
  plan.warmup = 2000;
  plan.draws = 20000;
  int checked = 0;
  for (const SamplerEntry& entry : sampler_entries()) {
    if (!serves(entry, *target)) continue;
    for (const Settings& settings : settings_of(entry.name, *target)) {
      auto sampler = make_sampler(entry.name, *target, settings);
      if (sampler->enumerable() || !sampler->exact()) continue;
      const Deviation d = long_run(table, std::move(sampler), plan);
      EXPECT_LT(d.worst, 5) << entry.name;
      EXPECT_LT(d.standard_error, 0.002) << entry.name << ": too short a run to see anything";
      ++checked;
    }
  }
  EXPECT_GT(checked, 0);
}

std::vector<SmallTarget> two_level_targets() {
  std::vector<SmallTarget> list = small_targets();
  std::erase_if(list, [](const SmallTarget& t) { return !t.make()->domain().two_level(); });
  return list;
}

INSTANTIATE_TEST_SUITE_P(Targets, EverySamplerWithoutMatrix, testing::ValuesIn(two_level_targets()),
                         [](const auto& p) { return p.param.name; });

}  // namespace
}  // namespace saltus
