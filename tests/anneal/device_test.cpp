// Annealing on a device: the same weights as without one.
#include <gtest/gtest.h>

#include "bases.hpp"
#include "fake_device.hpp"
#include "saltus/anneal/ais.hpp"
#include "saltus/sampler/registry.hpp"
#include "small_targets.hpp"

namespace saltus {
namespace {

const Function& curved() {
  static const Function target(Domain::binary(3), curved_logp, "curved");
  return target;
}

AisPlan small_plan() {
  AisPlan plan;
  plan.annealing.chains = 7;
  plan.annealing.tile = 2;
  plan.annealing.steps_per_beta = 2;
  plan.annealing.betas = linear_betas(150);  // several rounds
  plan.warmup = 50;
  return plan;
}

AisResult estimate(const Target& target, const std::string& sampler, const Settings& settings) {
  const Tempered path(target, uneven_base(target.domain()));
  return *annealed_importance_sampling(path, make_sampler(sampler, path, settings), small_plan());
}

TEST(DeviceAnnealing, MakesTheSameWeights) {
  const std::vector<std::pair<std::string, Settings>> samplers = {
      {"dmala", {{"step_size", "0.3"}}}, {"dmala", {}}, {"gwg", {{"flips", "1"}}}, {"gibbs", {}}};
  const FakeDeviceTarget here(curved(), "");
  for (const auto& [sampler, settings] : samplers) {
    SCOPED_TRACE(sampler);
    const FakeDeviceTarget there(curved(), sampler);
    const AisResult expected = estimate(here, sampler, settings);
    const AisResult result = estimate(there, sampler, settings);
    EXPECT_EQ(there.log.moves, 2u * 149u);
    EXPECT_EQ(there.log.steps, 50u);  // of the warm-up
    EXPECT_EQ(result.forward.log_weights, expected.forward.log_weights);
    EXPECT_EQ(result.forward.acceptance, expected.forward.acceptance);
    EXPECT_EQ(result.reverse->log_weights, expected.reverse->log_weights);
    EXPECT_EQ(result.reverse->acceptance, expected.reverse->acceptance);
  }
}

TEST(DeviceAnnealing, LeavesOtherSamplersHere) {
  const FakeDeviceTarget here(curved(), ""), there(curved(), "gwg");
  const Settings settings = {{"step_size", "0.3"}};
  const AisResult expected = estimate(here, "dmala", settings);
  const AisResult result = estimate(there, "dmala", settings);
  EXPECT_EQ(there.log.moves, 0u);
  EXPECT_EQ(result.forward.log_weights, expected.forward.log_weights);
  EXPECT_EQ(result.reverse->log_weights, expected.reverse->log_weights);
}

TEST(DeviceAnnealing, ResumesWithTheSameWeights) {
  const FakeDeviceTarget there(curved(), "dmala");
  const Tempered path(there, uneven_base(there.domain()));
  const auto sampler = make_sampler("dmala", path, {{"step_size", "0.3"}});
  const AnnealingPlan plan = small_plan().annealing;
  const auto make = [&] {
    return std::make_unique<Annealing>(path, *sampler, plan, Annealing::Direction::forward);
  };
  auto whole = make();
  whole->start();
  ASSERT_TRUE(whole->go());

  const std::vector<double> first(whole->log_weights().begin(), whole->log_weights().end());
  whole->start();  // once more
  ASSERT_TRUE(whole->go());
  EXPECT_TRUE(std::equal(first.begin(), first.end(), whole->log_weights().begin()));

  auto part = make();
  part->start();
  while (!part->go([](std::size_t, std::size_t) { return false; })) {
    ByteWriter out;
    part->save(out);
    part = make();
    ByteReader in(out.bytes());
    part->restore(in);
    EXPECT_TRUE(in.empty());
  }
  EXPECT_TRUE(std::equal(whole->log_weights().begin(), whole->log_weights().end(),
                         part->log_weights().begin()));
  EXPECT_EQ(whole->acceptance(), part->acceptance());
}

}  // namespace
}  // namespace saltus
