// Searches that begin elsewhere find the modes that chains have missed, and nothing where there is
// no other mode.
#include <gtest/gtest.h>

#include <algorithm>

#include "saltus/core/rows.hpp"
#include "saltus/sample.hpp"
#include "saltus/target/ising_lattice.hpp"

namespace saltus {
namespace {

constexpr int kSide = 8;

SampleRequest request_of(double coupling, double field) {
  SampleRequest request(std::make_shared<IsingLattice>(kSide, kSide, true, coupling, field));
  request.plan.warmup = 300;
  request.plan.draws = 2000;
  request.plan.threads = 2;
  request.exact = false;
  return request;
}

bool warns_of(const SampleResult& result, const std::string& code) {
  return std::ranges::any_of(result.warnings, [&](const Warning& w) { return w.code == code; });
}

TEST(ModeProbe, FindsTheModeThatAllChainsMissed) {
  SampleRequest request = request_of(0.4, 0);
  const RowBuffer<Symbol> low(request.plan.chains, kSide * kSide);  // all spins down
  request.start = low.view();
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    request.plan.seed = seed;
    const SampleResult result = sample(request);
    ASSERT_TRUE(result.probe);
    EXPECT_TRUE(warns_of(result, "modes")) << seed;
    EXPECT_EQ(verdict_of(result.warnings), "doubtful");
    // Half of the searches end up; a binomial of 32 is outside 3 to 29 once in 10^6.
    EXPECT_GT(result.probe->elsewhere, 2);
    EXPECT_LT(result.probe->elsewhere, 30);
    EXPECT_EQ(result.probe->higher, 0);
  }
}

TEST(ModeProbe, DispersedChainsDisagreeByThemselves) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    SampleRequest request = request_of(0.4, 0);
    request.plan.seed = seed;
    EXPECT_TRUE(warns_of(sample(request), "mixing")) << seed;
  }
}

TEST(ModeProbe, IsContentWhereThereIsOneMode) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    SampleRequest request = request_of(0.1, 0.2);
    request.plan.seed = seed;
    const SampleResult result = sample(request);
    ASSERT_TRUE(result.probe);
    EXPECT_FALSE(result.probe->missed()) << seed;
  }
}

TEST(ModeProbe, IsLeftOutWhereItIsNotWantedOrTooDear) {
  SampleRequest request = request_of(0.1, 0.2);
  request.probe = false;
  EXPECT_FALSE(sample(request).probe);
  request.probe = true;
  request.plan.warmup = 0;
  request.plan.draws = 20;
  EXPECT_FALSE(sample(request).probe);
}

TEST(ModeProbe, SaysTheSameForAnyNumberOfThreads) {
  SampleRequest request = request_of(0.3, 0.05);
  const SampleResult two = sample(request);
  request.plan.threads = 1;
  const SampleResult one = sample(request);
  ASSERT_TRUE(one.probe && two.probe);
  EXPECT_EQ(one.probe->elsewhere, two.probe->elsewhere);
  EXPECT_EQ(one.probe->higher, two.probe->higher);
}

}  // namespace
}  // namespace saltus
