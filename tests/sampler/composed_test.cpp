// Sequences by name: their settings, tuning and refusals.
#include <gtest/gtest.h>

#include <cmath>

#include "saltus/core/error.hpp"
#include "saltus/run/run.hpp"
#include "saltus/sampler/composed.hpp"
#include "saltus/sampler/dsvgd.hpp"
#include "saltus/sampler/registry.hpp"
#include "saltus/target/ising_lattice.hpp"
#include "saltus/target/poisson.hpp"

namespace saltus {
namespace {

const IsingLattice lattice(16, 16, true, 0.1, 0.2);

std::string refusal(const std::string& name, const Settings& settings) {
  try {
    make_sampler(name, lattice, settings);
  } catch (const UsageError& e) {
    return e.what();
  }
  return "";
}

std::string text(const Sampler& sampler, const std::string& name) {
  for (const Parameter& p : sampler.parameters()) {
    if (p.name != name) continue;
    if (const auto* v = std::get_if<double>(&p.value)) return std::to_string(*v);
    if (const auto* v = std::get_if<std::int64_t>(&p.value)) return std::to_string(*v);
  }
  return "";
}

TEST(Sequence, GivesSettingsToThePartThatKnowsThem) {
  const auto plain = make_sampler("dmala+gwg", lattice, {{"step_size", "0.25"}, {"flips", "3"}});
  EXPECT_EQ(plain->name(), "dmala+gwg");
  EXPECT_EQ(text(*plain, "dmala.step_size"), "0.250000");
  EXPECT_EQ(text(*plain, "gwg.flips"), "3");
  const auto twice =
      make_sampler("gwg+dmala+gwg", lattice, {{"gwg2.flips", "2"}, {"dmala.step_size", "0.5"}});
  EXPECT_EQ(text(*twice, "gwg.flips"), "1");
  EXPECT_EQ(text(*twice, "gwg2.flips"), "2");
  EXPECT_EQ(text(*twice, "dmala.step_size"), "0.500000");
}

TEST(Sequence, RefusesInWords) {
  EXPECT_NE(refusal("dmala+dlmc", {{"step_size", "0.2"}}).find("dmala.step_size, dlmc.step_size"),
            std::string::npos);
  EXPECT_NE(refusal("dmala+gwg", {{"radius", "2"}}).find("no part of the sampler has a parameter"),
            std::string::npos);
  EXPECT_NE(refusal("dmala+gwg", {{"gwg.radius", "2"}}).find("gwg has no parameter 'radius'"),
            std::string::npos);
  EXPECT_NE(refusal("dmala+", {}).find("there is no sampler ''"), std::string::npos);
  EXPECT_NE(refusal("dmala+nothing", {}).find("'nothing'"), std::string::npos);
  EXPECT_NE(refusal("dmala+block_gibbs", {}).find("hidden units"), std::string::npos);
  EXPECT_NE(refusal("dmala+dsvgd", {}).find("cannot be combined"), std::string::npos);
  const Composed::Parts one{make_sampler("gwg", lattice, {{"flips", "1"}})};
  EXPECT_THROW(Mix(one, {1, 2}), UsageError);
  EXPECT_THROW(Mix(one, {-1}), UsageError);
  EXPECT_THROW(Sequence(Composed::Parts{}), UsageError);
}

// Each part reaches its own goal: alone it ends at about the same value.
TEST(Sequence, TunesEveryPartByItsOwnSteps) {
  RunPlan plan;
  plan.chains = 16;
  plan.warmup = 4000;
  plan.draws = 200;
  const auto tuned = [&](const std::string& name, const std::string& parameter) {
    saltus::Run run(lattice, make_sampler(name, lattice, {}), plan);
    EXPECT_TRUE(run.go());
    return std::stod(text(run.sampler(), parameter));
  };
  const double alone = tuned("dmala", "step_size"), rate = tuned("rwm", "rate");
  EXPECT_NEAR(tuned("dmala+rwm", "dmala.step_size"), alone, 0.05 * alone);
  EXPECT_NEAR(tuned("gibbs+rwm", "rwm.rate"), rate, 0.1 * rate);
  EXPECT_NEAR(tuned("dmala+rwm", "rwm.rate"), rate, 0.1 * rate);
  const Sequence both(
      {make_sampler("dmala", lattice, {}), make_sampler("gwg", lattice, {{"flips", "1"}})});
  EXPECT_EQ(both.tuning().size(), 1u);
  EXPECT_EQ(both.tuning()[0].parameter, "dmala.step_size");
  EXPECT_EQ(make_sampler("gibbs+gwg", lattice, {{"flips", "1"}})->tunable(), nullptr);
}

// Step by step the parts of a tile take their turns; those of a mix come as often as they weigh.
TEST(Mix, TakesPartsByTheirWeights) {
  const Mix mix({make_sampler("dmala", lattice, {{"step_size", "0.2"}, {"adapt", "true"}}),
                 make_sampler("gwg", lattice, {{"flips", "1"}})},
                {1, 3});
  class Count final : public StepObserver {
   public:
    bool wants_logp(std::uint64_t) const override { return false; }
    void after_step(const Tile&, std::span<const StepInfo> info, std::uint64_t) override {
      for (const StepInfo& i : info) (i.tuning == StepInfo::kNotTuned ? gwg : dmala) += 1;
    }
    int dmala = 0, gwg = 0;
  } count;
  Ensemble ensemble(lattice, 8, 3, 1, 1);
  ensemble.start_random();
  ensemble.evaluate();
  ensemble.advance(mix, 2000, count);
  EXPECT_EQ(count.dmala + count.gwg, 16000);
  EXPECT_NEAR(count.dmala, 4000, 5 * std::sqrt(16000 * 0.25 * 0.75));
}

TEST(Sequence, ServesUnboundedLevels) {
  const Poisson counts(std::vector<double>(5, 3.0));
  const Settings windows{{"dmala.window", "1"}, {"gwg.window", "2"}};
  EXPECT_EQ(make_sampler("dmala+gwg", counts, windows)->missing(counts), "");
  EXPECT_NE(make_sampler("dmala+gwg", counts, windows)->tunable(), nullptr);
}

}  // namespace
}  // namespace saltus
