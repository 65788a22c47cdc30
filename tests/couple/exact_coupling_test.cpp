// Coupled DMALA on three units, exactly: meeting times, bounds and estimates from the joint kernel;
// and the steps that are really taken follow that kernel.
#include <gtest/gtest.h>

#include <cmath>

#include "../temper/models.hpp"
#include "coupled_law.hpp"
#include "coupled_steps.hpp"
#include "saltus/couple/meeting.hpp"
#include "saltus/sampler/registry.hpp"

namespace saltus {
namespace {

struct Rbm3 {
  std::shared_ptr<const Target> target = rbm3();
  StateTable table{*target};
  std::unique_ptr<Sampler> sampler = make_sampler("dmala", *target, {{"step_size", "0.5"}});
  const Dlp& dlp = dynamic_cast<const Dlp&>(*sampler);

  std::vector<double> uniform_after(std::uint64_t steps) const {
    const RowBuffer<double> matrix(8, 8);
    std::vector<double> acceptance(8), law(8, 0.125);
    dlp.transition_matrix(table, {}, matrix.view(), acceptance);
    for (; steps > 0; --steps) {
      std::vector<double> next(8);
      for (int x = 0; x < 8; ++x) {
        for (int y = 0; y < 8; ++y)
          next[static_cast<std::size_t>(y)] +=
              law[static_cast<std::size_t>(x)] * matrix.view()[x][y];
      }
      law = next;
    }
    return law;
  }
  // X after its first `lag` steps, and Y at the start.
  std::vector<double> start(std::uint64_t lag) const {
    std::vector<double> joint;
    for (const double p : uniform_after(lag)) joint.insert(joint.end(), 8, p / 8);
    return joint;
  }
};

double apart(const std::vector<double>& joint) {
  double p = 0;
  for (std::size_t s = 0; s < joint.size(); ++s) p += s / 8 == s % 8 ? 0 : joint[s];
  return p;
}

// P(tau - lag > s), s = 0, 1, ...
std::vector<double> survival(const CoupledLaw& law, std::vector<double> joint) {
  std::vector<double> tail;
  while (tail.size() < 20'000 && (tail.empty() || tail.back() > 1e-14)) {
    tail.push_back(apart(joint));
    joint = law.after(joint);
  }
  return tail;
}

// E max(0, ceil((tau - lag - t) / lag)) = sum over j of P(tau - lag > t + j lag).
double exact_bound(const std::vector<double>& tail, std::uint64_t lag, std::uint64_t t) {
  double sum = 0;
  for (std::uint64_t s = t; s < tail.size(); s += lag) sum += tail[s];
  return sum;
}

TEST(ExactCoupling, MeetingTimesAndBounds) {
  const Rbm3 rbm;
  const CoupledLaw law(rbm.dlp, rbm.table);
  const std::uint64_t steps[] = {0, 1, 2, 4, 8, 12};
  const struct {
    std::uint64_t lag;
    double mean;
    double bounds[6];
  } rows[] = {{1,
               3.3615159915,
               {2.3615159915, 1.4865159915, .8862906225, .2972834501, .0320137535, .0034396536}},
              {5,
               7.3657946205,
               {.9530484983, .6458278366, .3970306644, .1357047697, .0146687725, .0015755336}}};
  const double distances[] = {.1592170879, .0867648221, .0477453003,
                              .0151179416, .0015011135, .0001509952};
  for (const auto& row : rows) {
    const std::vector<double> tail = survival(law, rbm.start(row.lag));
    double mean = static_cast<double>(row.lag);
    for (const double p : tail) mean += p;
    EXPECT_NEAR(mean, row.mean, 1e-9);
    for (std::size_t k = 0; k < 6; ++k) {
      EXPECT_NEAR(exact_bound(tail, row.lag, steps[k]), row.bounds[k], 1e-9);
      const std::vector<double> at = rbm.uniform_after(steps[k]);
      double distance = 0;
      for (std::size_t s = 0; s < 8; ++s)
        distance += std::abs(at[s] - rbm.table.probability()[s]) / 2;
      EXPECT_NEAR(distance, distances[k], 1e-9);
      EXPECT_LE(distance, row.bounds[k]);
    }
  }
  const CoupledLaw by_flips(rbm.dlp, rbm.table, false);
  double mean = 1;
  for (const double p : survival(by_flips, rbm.start(1))) mean += p;
  EXPECT_NEAR(mean, 27.1418201907, 1e-9);
}

// Means over pairs against exact expectations: within 4 standard errors.
TEST(ExactCoupling, RunsHaveTheExactMeans) {
  const Rbm3 rbm;
  const auto kernel = make_coupled_kernel(*rbm.target, *rbm.sampler);
  const struct {
    std::uint64_t lag;
    double mean, bound2;
  } rows[] = {{1, 2.3615159915, .8862906225}, {5, 2.3657946205, .3970306644}};
  for (const auto& [lag, expected, bound2] : rows) {
    MeetingPlan plan;
    plan.seed = 5;
    plan.lag = lag;
    plan.window = EstimateWindow{2, 6};
    plan.coordinates = {0};
    std::vector<std::uint64_t> times;
    double sum = 0, squares = 0, h = 0, h2 = 0;
    constexpr double kPairs = 40'000;
    for (std::uint32_t pair = 0; pair < kPairs; ++pair) {
      const Meeting m = run_pair(*rbm.target, *kernel, pair, plan);
      ASSERT_TRUE(m.time);
      times.push_back(*m.time);
      const auto t = static_cast<double>(*m.time);
      sum += t, squares += t * t;
      h += m.estimates[0], h2 += m.estimates[0] * m.estimates[0];
    }
    const auto error = [&](double s, double s2) {
      return std::sqrt((s2 / kPairs - s * s / (kPairs * kPairs)) / kPairs);
    };
    EXPECT_NEAR(sum / kPairs, expected, 4 * error(sum, squares));
    EXPECT_NEAR(h / kPairs, .4844769336, 4 * error(h, h2));
    const DistanceBound bound = distance_bound(times, lag, 2);
    EXPECT_NEAR(bound.bound, bound2, 4 * bound.standard_error);
  }
}

// E of the plain part and of the correction, from the exact joint law and the weights of the
// estimator.
TEST(ExactCoupling, TheCorrectionTakesTheBiasAway) {
  const Rbm3 rbm;
  const CoupledLaw law(rbm.dlp, rbm.table);
  const int k = 2, m = 6;
  for (const int lag : {1, 5}) {
    double plain = 0, correction = 0;
    for (int t = k; t <= m; ++t) {
      const std::vector<double> at = rbm.uniform_after(static_cast<std::uint64_t>(t));
      for (std::size_t s = 4; s < 8; ++s) plain += at[s] / (m - k + 1);
    }
    std::vector<double> joint = rbm.start(static_cast<std::uint64_t>(lag));
    for (int t = lag; t < 400; ++t, joint = law.after(joint)) {
      if (t < k + lag) continue;
      const double v = (t - k) / lag - (std::max(lag, t - m) + lag - 1) / lag + 1;
      for (std::size_t s = 0; s < 64; ++s) {
        const int difference = (s / 8 >= 4) - (s % 8 >= 4);
        correction += v * joint[s] * difference / (m - k + 1);
      }
    }
    EXPECT_NEAR(plain, .4890354715, 1e-9);
    EXPECT_NEAR(correction, -.0045585380, 1e-9);
    EXPECT_NEAR(plain + correction, rbm.table.means(rbm.table.probability())[0], 1e-9);
  }
}

// Real steps from all 64 joint states.
TEST(ExactCoupling, StepsFollowTheJointKernel) {
  const Rbm3 rbm;
  const CoupledLaw law(rbm.dlp, rbm.table);
  const auto kernel = make_coupled_kernel(*rbm.target, *rbm.sampler);
  CoupledSteps steps(*rbm.target, rbm.table, *kernel);
  ChiSquare test;
  for (std::size_t from = 0; from < 64; ++from) {
    std::vector<double> seen(64);
    for (std::uint32_t n = 0; n < 5000; ++n) {
      steps.start(from);
      ++seen[steps.step({9, n, from})];
    }
    test.add(seen, law.row(from));
  }
  EXPECT_GT(test.degrees(), 300);
  EXPECT_TRUE(test.agrees());
}

}  // namespace
}  // namespace saltus
