// The Langevin proposal with another balancing exponent, and with step sizes in cycles: numbers
// that were computed independently.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>

#include "../temper/models.hpp"
#include "dlp_helpers.hpp"
#include "saltus/core/error.hpp"
#include "saltus/sampler/registry.hpp"
#include "saltus/target/function.hpp"

namespace saltus {
namespace {

Dlp balanced(const Target& target, double step_size, double gamma) {
  DlpOptions options;
  options.step_size = step_size;
  options.balancing_exponent = gamma;
  return Dlp(target.domain(), options);
}

double mean_acceptance(const Sampler& sampler, const StateTable& table) {
  const Matrix matrix(sampler, table);
  double mean = 0;
  for (std::size_t s = 0; s < table.size(); ++s)
    mean += table.probability()[s] * matrix.acceptance[s];
  return mean;
}

// Log of the acceptance ratio of a move between two states of two-level coordinates.
double log_ratio(const Dlp& sampler, const StateTable& table, std::size_t from, std::size_t to) {
  const auto log_q = [&](std::size_t a, std::size_t b) {
    std::vector<double> law(2 * static_cast<std::size_t>(table.domain().dim()));
    sampler.log_probabilities(table.domain(), table.state(a), table.score(a), law);
    double sum = 0;
    for (std::size_t i = 0; i < law.size() / 2; ++i) sum += law[2 * i + table.state(b)[i]];
    return sum;
  };
  return table.logp(to) - table.logp(from) + log_q(to, from) - log_q(from, to);
}

TEST(BalancingExponent, LogitsAndRatios) {
  const auto target = rbm3();
  const StateTable table(*target);
  const Dlp sampler = balanced(*target, 0.5, 0.8);
  std::vector<double> law(6);
  sampler.log_probabilities(table.domain(), table.state(0), table.score(0), law);
  EXPECT_NEAR(law[1] - law[0], -.9601917146, 1e-9);
  EXPECT_NEAR(law[3] - law[2], -.8775786321, 1e-9);
  EXPECT_NEAR(law[5] - law[4], -.7593393452, 1e-9);
  EXPECT_NEAR(log_ratio(sampler, table, 0, 7), -.1716801618, 1e-9);
  EXPECT_NEAR(log_ratio(sampler, table, 0, 3), -.1077511628, 1e-9);
  EXPECT_NEAR(mean_acceptance(sampler, table), .97698905, 1e-8);
  const Dlp bolder = balanced(*target, 2, 0.95);
  EXPECT_NEAR(log_ratio(bolder, table, 0, 7), -.1282426084, 1e-9);
  EXPECT_NEAR(mean_acceptance(bolder, table), .96500222, 1e-8);
}

TEST(BalancingExponent, AcceptanceOfAGlass) {
  const auto target = glass10();
  const StateTable table(*target);
  const struct {
    double step_size, gamma, acceptance;
  } rows[] = {{.2, .5, .97474568},       {.2, .7, .96704916},       {.2, .9, .93074746},
              {INFINITY, .5, .52306352}, {INFINITY, .7, .70390687}, {INFINITY, .9, .82122771}};
  for (const auto& [step_size, gamma, acceptance] : rows) {
    EXPECT_NEAR(mean_acceptance(balanced(*target, step_size, gamma), table), acceptance, 1e-8);
  }
}

TEST(BalancingExponent, SecondEigenvalues) {
  const auto easy = rbm3();
  const StateTable table(*easy);
  EXPECT_NEAR(second_eigenvalue(balanced(*easy, INFINITY, .5), table), .28497, 5e-6);
  EXPECT_NEAR(second_eigenvalue(balanced(*easy, INFINITY, .9), table), .23504, 5e-6);
  const auto modes = ferro8();
  const StateTable of_modes(*modes);
  EXPECT_NEAR(second_eigenvalue(balanced(*modes, .2, .5), of_modes), .9999982884, 1e-10);
  EXPECT_NEAR(second_eigenvalue(balanced(*modes, .5, .5), of_modes), .9999966946, 1e-10);
  EXPECT_NEAR(second_eigenvalue(balanced(*modes, INFINITY, .5), of_modes), .9999956849, 1e-10);
}

TEST(BalancingExponent, IsTunedAsEver) {
  const auto target = glass10();
  const auto sampler = make_sampler("dmala", *target, {{"balancing_exponent", "0.7"}});
  ASSERT_TRUE(sampler->tunable());
  const double value = 1;
  const auto tuned = sampler->tunable()->tuned(std::span(&value, 1), Tunable::Phase::draws);
  EXPECT_EQ(dynamic_cast<const Dlp&>(*tuned).options().balancing_exponent, 0.7);
}

// The schedule of the paper with its own exponents, on two levels: a cycle of kernels leaves the
// model invariant, is not reversible, and is slower than one kernel (1207 steps at alpha = 0.5).
TEST(Cycle, OfAGlassIsValidAndSlow) {
  const StepCycle cycle{8, 5, .2};
  const double steps[] = {5, 4.80969883, 4.26776695, 3.45670858, 2.5, 1.54329142, .73223305, .2};
  const auto target = glass10();
  const StateTable table(*target);
  const std::size_t n = table.size();
  std::vector<Matrix> kernels;
  for (int k = 0; k < 8; ++k) {
    EXPECT_NEAR(cycle.step_size(k), steps[k], 1e-8);
    const double gamma = k < 6 ? .95 : k == 6 ? .8 : .5666666667;
    kernels.emplace_back(balanced(*target, cycle.step_size(k), gamma), table);
  }
  const auto along = [&](std::vector<double> law) {
    for (const Matrix& kernel : kernels) {
      std::vector<double> next(n);
      for (std::size_t x = 0; x < n; ++x) {
        for (std::size_t y = 0; y < n; ++y)
          next[y] += law[x] * kernel(static_cast<int>(x), static_cast<int>(y));
      }
      law.swap(next);
    }
    return law;
  };
  const std::span<const double> pi = table.probability();
  const std::vector<double> image = along({pi.begin(), pi.end()});
  for (std::size_t y = 0; y < n; ++y) EXPECT_NEAR(image[y], pi[y], 1e-14);
  // The largest defect of detailed balance, between states that are probable enough to have it.
  std::vector<std::size_t> probable(n);
  std::iota(probable.begin(), probable.end(), std::size_t{0});
  std::ranges::sort(probable, std::greater{}, [&](std::size_t s) { return pi[s]; });
  probable.resize(20);
  std::vector<std::vector<double>> flow;
  for (const std::size_t x : probable) {
    std::vector<double> at(n);
    at[x] = pi[x];
    flow.push_back(along(at));
  }
  double defect = 0;
  for (std::size_t i = 0; i < probable.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j)
      defect = std::max(defect, std::abs(flow[i][probable[j]] - flow[j][probable[i]]));
  }
  EXPECT_NEAR(defect, 8.22e-4, 5e-7);
  // What is left of a difference of two laws shrinks by the second eigenvalue, up to an error that
  // falls geometrically; Aitken's formula takes it off.
  std::vector<double> rest(n);
  rest[0] = 1, rest[n - 1] = -1;
  std::array<double, 3> factors{};
  for (int k = 1; k <= 400; ++k) {
    rest = along(rest);
    double size = 0;
    for (const double v : rest) size += std::abs(v);
    for (double& v : rest) v /= size;
    if (k % 50 == 0) factors = {factors[1], factors[2], size};
  }
  const double step = factors[2] - factors[1], before = factors[1] - factors[0];
  EXPECT_NEAR(factors[2] - step * step / (step - before), .9983200525, 1e-9);
}

// Two wells, 32 levels apart.
Function two_wells() {
  return Function(
      Domain::ordered(1, 64),
      [](std::span<const double> v, std::span<double> gradient) {
        const double a = -(v[0] - 16) * (v[0] - 16) / 18;
        const double b = std::log(2) - (v[0] - 48) * (v[0] - 48) / 18;
        const double top = std::max(a, b), ea = std::exp(a - top), eb = std::exp(b - top);
        if (!gradient.empty())
          gradient[0] = -(ea * (v[0] - 16) + eb * (v[0] - 48)) / (9 * (ea + eb));
        return top + std::log(ea + eb);
      },
      "wells");
}

TEST(Cycle, ReachesAWellThatOneStepSizeDoesNot) {
  const Function target = two_wells();
  const StateTable table(target);
  EXPECT_NEAR(table.means(table.probability())[0], 37.3333316650, 1e-9);
  const std::span<const double> upper = table.probability().subspan(32);
  EXPECT_NEAR(std::accumulate(upper.begin(), upper.end(), 0.0), .6666666710, 1e-9);
  const struct {
    double step_size, eigenvalue;
  } rows[] = {{20, .9999999906}, {50, .9999648735}, {200, .9912569348}, {1000, .9981493061}};
  for (const auto& [step_size, eigenvalue] : rows) {
    EXPECT_NEAR(second_eigenvalue(balanced(target, step_size, .5), table), eigenvalue, 1e-10);
  }
  EXPECT_NEAR(mean_acceptance(balanced(target, 200, .5), table), .13491324, 1e-8);
  const auto cycle = make_sampler(
      "dmala", target, {{"cycle", "20"}, {"largest_step", "1000"}, {"smallest_step", "3"}});
  EXPECT_EQ(cycle->enumerable()->phases(target.domain()), 20);
  EXPECT_FALSE(cycle->tunable());
  EXPECT_NEAR(std::pow(second_eigenvalue(*cycle, table), 20), .4323468002, 1e-9);
}

// The message of what is refused.
std::string refusal(const Target& target, const Settings& settings) {
  try {
    make_sampler("dmala", target, settings);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(Cycle, IsRefusedWhereItMakesNoSense) {
  const Settings cycle{{"cycle", "20"}, {"largest_step", "9"}, {"smallest_step", "1"}};
  for (const auto& target : {rbm3(), ferro8(), potts5()}) {
    EXPECT_NE(refusal(*target, cycle).find("parallel tempering"), std::string::npos);
  }
  const Function wells = two_wells();
  EXPECT_EQ(refusal(wells, cycle), "");
  const auto with = [&](const char* key, const char* value) {
    Settings all = cycle;
    all[key] = value;
    return refusal(wells, all);
  };
  EXPECT_NE(with("step_size", "2").find("in place of step_size"), std::string::npos);
  EXPECT_NE(with("adapt", "true").find("is not tuned"), std::string::npos);
  EXPECT_NE(with("cycle", "1").find("cycle is 1"), std::string::npos);
  EXPECT_NE(with("smallest_step", "10").find("smallest_step 10"), std::string::npos);
  EXPECT_NE(with("largest_step", "inf").find("largest_step is inf"), std::string::npos);
  EXPECT_NE(refusal(wells, {{"cycle", "5"}}).find("needs both"), std::string::npos);
  EXPECT_NE(refusal(wells, {{"largest_step", "5"}}).find("need a cycle"), std::string::npos);
  for (const char* gamma : {"0", "1.1", "-1", "nan"}) {
    EXPECT_NE(refusal(wells, {{"balancing_exponent", gamma}}).find("balancing_exponent"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace saltus
