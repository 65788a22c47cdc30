#include "saltus/temper/ladder.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "saltus/core/philox.hpp"
#include "saltus/temper/travels.hpp"

namespace saltus {
namespace {

using Numbers = std::vector<double>;
using Rounds = std::vector<std::uint64_t>;

void expect_near(const Numbers& found, const Numbers& expected, double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t k = 0; k < found.size(); ++k) EXPECT_NEAR(found[k], expected[k], tolerance) << k;
}

TEST(Ladder, RoundsOfWarmUp) {
  EXPECT_EQ(warmup_rounds(1000), (Rounds{2, 4, 8, 16, 32, 64, 128, 256, 490}));
  EXPECT_EQ(warmup_rounds(100), (Rounds{2, 4, 8, 16, 32, 38}));
  EXPECT_EQ(warmup_rounds(10), (Rounds{2, 4, 4}));
  EXPECT_EQ(warmup_rounds(6), (Rounds{2, 4}));
  EXPECT_EQ(warmup_rounds(5), (Rounds{2, 3}));
  EXPECT_EQ(warmup_rounds(3), (Rounds{3}));
  EXPECT_EQ(warmup_rounds(1), (Rounds{1}));
  EXPECT_EQ(warmup_rounds(0), (Rounds{}));
}

TEST(Ladder, InterpolatesTheCumulatedRejection) {
  const Numbers betas = {0, .1, .3, .6, 1}, rejection = {.5, .3, .15, .05};
  expect_near(equal_rejection_ladder(betas, rejection, 4), {0, .05, .1, .2666666667, 1}, 1e-9);
  expect_near(equal_rejection_ladder(betas, rejection, 6),
              {0, .0333333333, .0666666667, .1, .2111111111, .3666666667, 1}, 1e-9);
  expect_near(equal_rejection_ladder(betas, rejection, 2), {0, .1, 1}, 1e-9);
  // A pair that is never rejected counts a little.
  expect_near(equal_rejection_ladder(Numbers{0, .5, 1}, Numbers{0, .4}, 2), {0, .749999375, 1},
              1e-9);
}

TEST(Ladder, RateOfRoundTrips) {
  EXPECT_NEAR(round_trip_rate(Numbers{.5, .5, .5, .5}), .1, 1e-15);
  EXPECT_NEAR(round_trip_rate(Numbers{0}), .5, 1e-15);
  EXPECT_NEAR(round_trip_rate(Numbers{.25}), .375, 1e-15);
}

// Swaps are accepted with given probabilities. `alternate`: pairs of either parity in turn, or of a
// parity drawn at random.
double counted_rate(const Numbers& rejection, std::uint64_t scans, bool alternate) {
  Travels travels;
  travels.start(static_cast<int>(rejection.size()) + 1);
  std::vector<std::uint8_t> swapped(rejection.size());
  for (std::uint64_t t = 0; t < scans; ++t) {
    const Stream stream(1, 0, t, Purpose::swap);
    const std::size_t parity = alternate ? t % 2 : stream.uniform(1000) < .5;
    std::fill(swapped.begin(), swapped.end(), 0);
    for (std::size_t k = parity; k < rejection.size(); k += 2) {
      swapped[k] = stream.uniform(static_cast<std::uint32_t>(k)) >= rejection[k];
    }
    travels.scan(swapped);
  }
  EXPECT_GE(travels.restarts, travels.round_trips);
  return static_cast<double>(travels.round_trips) / static_cast<double>(scans);
}

TEST(Ladder, CountsRoundTrips) {
  constexpr std::uint64_t scans = 400000;  // standard error of a rate: at most .0004
  const Numbers ferro = {.4707961309, .6683723643, .2517859055, .0783886780};
  EXPECT_NEAR(counted_rate({.5, .5, .5, .5}, scans, true), .1, .002);
  EXPECT_NEAR(counted_rate({0}, scans, true), .5, 1e-5);
  EXPECT_NEAR(counted_rate({.25}, scans, true), .375, .002);
  EXPECT_NEAR(counted_rate(ferro, scans, true), .1155632993, .002);
  EXPECT_NEAR(counted_rate(ferro, scans, false), .0682441704, .002);
}

TEST(Ladder, TwiceTheBarrierIsTheNumberOfPairs) {
  EXPECT_EQ(better_pairs(Numbers(8, .25)), 4);
  EXPECT_EQ(better_pairs(Numbers(8, .1)), 4);  // no less than half as many
  EXPECT_EQ(better_pairs(Numbers(8, .95)), 15);
  EXPECT_EQ(better_pairs(Numbers(8, 1)), 16);  // no more than twice as many
  EXPECT_EQ(better_pairs(Numbers(2, .1)), 2);
  EXPECT_EQ(better_pairs(Numbers(2, 0)), 1);  // the base is the model
  EXPECT_EQ(better_pairs(Numbers(1, .1)), 2);
  EXPECT_EQ(better_pairs(Numbers(500, 1)), 512);
}

TEST(Ladder, SwapsOfImpossibleStatesAreRejected) {
  EXPECT_EQ(swap_probability(.2, .5, 1, 0), 1);
  EXPECT_NEAR(swap_probability(.2, .5, 0, 1), std::exp(-.3), 1e-15);
  EXPECT_EQ(swap_probability(0, .5, -INFINITY, 3), 0);
  EXPECT_EQ(swap_probability(0, .5, -INFINITY, -INFINITY), 0);
  EXPECT_EQ(swap_probability(.1, .2, 0, 1e6), 0);
}

}  // namespace
}  // namespace saltus
