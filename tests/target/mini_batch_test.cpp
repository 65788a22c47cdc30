#include "saltus/target/mini_batch.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "saltus/core/error.hpp"
#include "saltus/run/moments.hpp"
#include "saltus/run/run.hpp"
#include "saltus/sampler/dlp.hpp"

namespace saltus {
namespace {

constexpr std::uint32_t kTerms = 40;

// f_n(v) = sum_i c_ni v_i, linear, so that the full gradient is known.
double coefficient(std::uint32_t n, std::size_t i) {
  return 0.05 * std::sin(3.0 * n + 1.7 * static_cast<double>(i)) + 0.01;
}

MiniBatch linear(std::uint32_t batch) {
  return MiniBatch(
      Domain::binary(5), kTerms, batch,
      [](std::span<const std::uint32_t> terms, std::span<const double> v, std::span<double> g) {
        double sum = 0;
        for (double& e : g) e = 0;
        for (std::uint32_t n : terms) {
          for (std::size_t i = 0; i < v.size(); ++i) {
            sum += coefficient(n, i) * v[i];
            if (!g.empty()) g[i] += coefficient(n, i);
          }
        }
        return sum;
      });
}

TEST(MiniBatch, BatchIsAFunctionOfSeedAndStep) {
  const MiniBatch target = linear(7);
  std::vector<std::uint32_t> a(7), b(7), c(7);
  target.draw_batch(1, 5, a);
  target.draw_batch(1, 5, b);
  target.draw_batch(1, 6, c);
  EXPECT_EQ(a, b);
  EXPECT_NE(a, c);
  EXPECT_EQ(std::set(a.begin(), a.end()).size(), 7u);
  EXPECT_TRUE(std::is_sorted(a.begin(), a.end()));
  EXPECT_LT(a.back(), kTerms);
}

// Every term is in the batch with probability B / N: counts over 20,000 steps within 5 standard
// deviations.
TEST(MiniBatch, EveryTermIsEquallyLikely) {
  const std::uint32_t size = 7;
  const MiniBatch target = linear(size);
  std::vector<std::uint32_t> batch(size);
  std::vector<double> count(kTerms);
  const int steps = 20000;
  for (int t = 0; t < steps; ++t) {
    target.draw_batch(3, static_cast<std::uint64_t>(t), batch);
    for (std::uint32_t n : batch) ++count[n];
  }
  const double p = static_cast<double>(size) / kTerms;
  for (double c : count) EXPECT_NEAR(c, steps * p, 5 * std::sqrt(steps * p * (1 - p)));
}

TEST(MiniBatch, GradientIsUnbiased) {
  const MiniBatch target = linear(10), full = linear(kTerms);
  EXPECT_TRUE(target.stochastic());
  EXPECT_FALSE(full.stochastic());
  Scratch scratch;
  const Symbol x[5] = {1, 0, 1, 1, 0};
  RowBuffer<float> exact(1, 5), one(1, 5);
  double logp = 0;
  full.evaluate({1, 0, scratch}, {x, 1, 5, 5}, &logp, exact.view());
  const int steps = 20000;
  for (std::size_t i = 0; i < 5; ++i) {
    double sum = 0, square = 0;
    for (int t = 0; t < steps; ++t) {
      target.evaluate({1, static_cast<std::uint64_t>(t), scratch}, {x, 1, 5, 5}, nullptr,
                      one.view());
      sum += double{one.view()[0][i]};
      square += double{one.view()[0][i]} * double{one.view()[0][i]};
    }
    const double mean = sum / steps, sd = std::sqrt(square / steps - mean * mean);
    EXPECT_GT(sd, 0.01);
    EXPECT_NEAR(mean, double{exact.view()[0][i]}, 5 * sd / std::sqrt(steps));
  }
}

TEST(MiniBatch, DmalaIsRefusedAndDulaNeedsAStepSize) {
  const MiniBatch target = linear(10);
  const auto make = [&](bool adjust, std::optional<double> step) {
    DlpOptions options;
    options.adjust = adjust;
    options.step_size = step;
    saltus::Run run(target, std::make_unique<Dlp>(target.domain(), options), RunPlan{});
  };
  EXPECT_THROW(make(true, 0.2), UsageError);
  EXPECT_THROW(make(false, std::nullopt), UsageError);
  EXPECT_NO_THROW(make(false, 0.2));
}

// DULA with a noisy gradient of a linear logp: coordinate i moves 0 -> 1 with E sigma(g/2 - k) and
// back with E sigma(-g/2 - k), expectations over batches, so its exact law is known from those two
// numbers.
TEST(MiniBatch, StochasticDulaHasTheLawOfItsAveragedKernel) {
  const MiniBatch target = linear(4);
  const double step = 0.5, k = 1 / (2 * step);
  std::vector<double> up(5), down(5);
  Scratch scratch;
  RowBuffer<float> g(1, 5);
  const Symbol x[5] = {};
  const int batches = 50000;
  for (int t = 0; t < batches; ++t) {
    target.evaluate({99, static_cast<std::uint64_t>(t), scratch}, {x, 1, 5, 5}, nullptr, g.view());
    for (std::size_t i = 0; i < 5; ++i) {
      const double half = double{g.view()[0][i]} / 2;
      up[i] += 1 / (1 + std::exp(k - half)) / batches;
      down[i] += 1 / (1 + std::exp(k + half)) / batches;
    }
  }
  RunPlan plan;
  plan.chains =
      200;  // chains share the batches, so their means are a little correlated: use many steps
  plan.draws = 20000;
  plan.warmup = 100;
  DlpOptions options;
  options.adjust = false;
  options.step_size = step;
  Moments moments(target.domain(), plan.chains, plan.draws, true);
  saltus::Run run(target, std::make_unique<Dlp>(target.domain(), options), plan);
  run.add(moments);
  run.start();
  run.go();
  for (std::size_t i = 0; i < 5; ++i) {
    // Error: Monte Carlo of the 50,000 batches (sd of sigma about 0.05) and of 20,000 shared steps.
    EXPECT_NEAR(moments.mean()[i], up[i] / (up[i] + down[i]), 0.003);
  }
  EXPECT_EQ(run.statistics().acceptance, 1);
}

}  // namespace
}  // namespace saltus
