// Schedules of a search, and the time to solution.
#include <gtest/gtest.h>

#include <cmath>

#include "saltus/anneal/schedule.hpp"
#include "saltus/anneal/time_to_solution.hpp"
#include "saltus/core/error.hpp"
#include "saltus/target/bernoulli.hpp"
#include "temper/cut16.hpp"
#include "temper/models.hpp"

namespace saltus {
namespace {

TEST(Schedule, LinearAndGeometric) {
  EXPECT_EQ(linear_schedule({0.5, 2}, 4), (std::vector<double>{0.5, 1, 1.5, 2}));
  const std::vector<double> g = geometric_schedule({0.5, 4}, 4);
  for (std::size_t k = 0; k < 4; ++k) EXPECT_NEAR(g[k], 0.5 * std::exp2(k), 1e-14);
  EXPECT_EQ(g.back(), 4);
  for (auto* make : {linear_schedule, geometric_schedule}) {
    EXPECT_EQ(make({0.5, 2}, 1), std::vector<double>{2});
    EXPECT_THROW(make({0, 2}, 3), UsageError);
    EXPECT_THROW(make({2, 1}, 3), UsageError);
    EXPECT_THROW(make({1, INFINITY}, 3), UsageError);
    EXPECT_THROW(make({1, 2}, 0), UsageError);
  }
}

TEST(Schedule, AdaptiveFollowsTheGrowthOfTheMean) {
  const std::vector<double> pilot = {.1, .2, .4, .8};
  const double expected[] = {.1, .21035534, .32071068, .48786797, .8};
  const std::vector<double> b = adaptive_schedule(pilot, std::vector<double>{0, 1, 3, 3.5}, 5);
  for (std::size_t k = 0; k < 5; ++k) EXPECT_NEAR(b[k], expected[k], 1e-8);
  // A mean that falls counts as one that stands still.
  EXPECT_EQ(adaptive_schedule(pilot, std::vector<double>{0, 1, .8, 3.5}, 7),
            adaptive_schedule(pilot, std::vector<double>{0, 1, 1, 3.5}, 7));
  EXPECT_EQ(adaptive_schedule(pilot, std::vector<double>{0, 0, 0, 0}, 2),
            (std::vector<double>{.1, .8}));
  EXPECT_THROW(adaptive_schedule(pilot, std::vector<double>{0, 1}, 5), UsageError);
}

TEST(Schedule, TheRangeFollowsFromChangesOfOneCoordinate) {
  // Independent bits: every change of coordinate i is logits[i] in size.
  const Bernoulli bits(BernoulliModel{{0.5, -2, 1e-4}});
  const BetaRange range = default_range(bits, 1);
  EXPECT_NEAR(range.first, std::log(2.0) / 2, 1e-12);
  EXPECT_NEAR(range.last, std::log(300.0) / 0.5, 1e-12);  // 1e-4 is too small to count
  // Weights +-1: changes are whole numbers, and the smallest one is 1 where a degree is odd.
  const BetaRange cut = default_range(*cut16(), 1);
  EXPECT_NEAR(cut.last, std::log(1600.0), 1e-12);
  EXPECT_GE(cut.first, std::log(2.0) / 10 - 1e-12);  // the largest degree is 10
  EXPECT_THROW(default_range(Bernoulli(BernoulliModel{{0, 0}}), 1), DataError);
}

TEST(TimeToSolution, TheNumbersOfTheLiterature) {
  const SuccessRate p = success_rate(37, 100);
  EXPECT_EQ(p.mean, .37);
  EXPECT_NEAR(p.low, .2801617, 5e-8);
  EXPECT_NEAR(p.high, .4672421, 5e-8);
  TimeToSolution t = time_to_solution(37, 100);
  EXPECT_NEAR(*t.restarts, 9.9671, 5e-5);
  EXPECT_NEAR(t.low, 7.3134, 5e-5);
  EXPECT_NEAR(*t.high, 14.0090, 5e-5);
  t = time_to_solution(1, 100);
  EXPECT_NEAR(*t.restarts, 458.2106, 5e-5);
  EXPECT_NEAR(t.low, 98.275, 5e-4);
  EXPECT_NEAR(*t.high, 4257.40, 5e-3);
  t = time_to_solution(0, 100);
  EXPECT_FALSE(t.restarts || t.high);
  EXPECT_NEAR(success_rate(0, 100).high, .0247453, 5e-8);
  EXPECT_NEAR(t.low, 183.79, 5e-3);
  t = time_to_solution(100, 100);
  EXPECT_EQ(*t.restarts, 1);
  EXPECT_EQ(t.low, 1);
  EXPECT_NEAR(*t.high, 1.24494, 5e-6);
  EXPECT_THROW(time_to_solution(2, 1), UsageError);
}

TEST(TimeToSolution, BetaQuantiles) {
  for (const double p : {1e-9, 0.025, 0.5, 0.975}) {
    EXPECT_NEAR(beta_quantile(p, 1, 1), p, 1e-15);
    EXPECT_NEAR(beta_quantile(p, 3, 1), std::cbrt(p), 1e-14);
    EXPECT_NEAR(beta_quantile(p, 0.5, 0.5), std::pow(std::sin(p * std::acos(-1.0) / 2), 2), 1e-12);
  }
}

}  // namespace
}  // namespace saltus
