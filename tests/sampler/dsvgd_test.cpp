// DSVGD: its direction term by term, and what its particles do.
#include "saltus/sampler/dsvgd.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "one_tile.hpp"
#include "resume.hpp"
#include "saltus/core/error.hpp"
#include "sampler/informed/surrogate.hpp"
#include "sampler/langevin/dsvgd_direction.hpp"
#include "small_targets.hpp"

namespace saltus {
namespace {

RowBuffer<float> random_points(int rows, int dim, std::uint32_t number = 0) {
  RowBuffer<float> z(rows, dim);
  for (int r = 0; r < rows; ++r) {
    for (int i = 0; i < dim; ++i) {
      const Stream stream(11, static_cast<std::uint32_t>(r), number, Purpose::check);
      z.view()[r][i] = static_cast<float>(
          normal_block(stream, static_cast<std::uint32_t>(i / 4))[static_cast<std::size_t>(i % 4)]);
    }
  }
  return z;
}

double squared_distance(const float* a, const float* b, int dim) {
  double sum = 0;
  for (int i = 0; i < dim; ++i) sum += std::pow(double{a[i]} - double{b[i]}, 2);
  return sum;
}

double gamma_of(Rows<const float> z) {
  std::vector<double> all;
  for (int i = 0; i < z.rows; ++i) {
    for (int j = 0; j < z.rows; ++j) all.push_back(squared_distance(z[i], z[j], z.cols));
  }
  std::sort(all.begin(), all.end());
  const double median = (all[(all.size() - 1) / 2] + all[all.size() / 2]) / 2;
  return 1 / (1e-8 + 2 * median / (2 * std::log(z.rows + 1.0)));
}

TEST(DsvgdDirection, GammaFromTheMedianWithTheZerosOfTheDiagonal) {
  for (int n : {1, 2, 3, 8, 9}) {
    const auto z = random_points(n, 5);
    std::vector<float> distances;
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) {
        distances.push_back(static_cast<float>(squared_distance(z.view()[i], z.view()[j], 5)));
      }
    }
    const double gamma = gamma_of(z.view());
    EXPECT_NEAR(kernel_gamma(distances, n), gamma, 1e-5 * gamma) << n;
  }
}

TEST(DsvgdDirection, OfOneParticleIsItsGradient) {
  const auto z = random_points(1, 70), gradient = random_points(1, 70, 1);
  const RowBuffer<float> phi(1, 70);
  Scratch room;
  const double weight[] = {1};
  dsvgd_direction(z.view(), gradient.view(), weight, room, phi.view());
  for (int i = 0; i < 70; ++i) EXPECT_EQ(phi.view()[0][i], gradient.view()[0][i]);
}

TEST(DsvgdDirection, IsThePullOfGradientsAndTheRepulsionOfParticles) {
  constexpr int n = 9, dim = 5;
  const auto z = random_points(n, dim), gradient = random_points(n, dim, 1);
  const RowBuffer<float> none(n, dim), phi(n, dim), repulsion(n, dim);
  std::vector<double> weight(n);
  for (std::size_t j = 0; j < n; ++j) weight[j] = 0.3 * static_cast<double>(j % 4);
  softmax(weight);
  Scratch room;
  dsvgd_direction(z.view(), none.view(), weight, room, repulsion.view());
  dsvgd_direction(z.view(), gradient.view(), weight, room, phi.view());
  const double gamma = gamma_of(z.view());
  for (int i = 0; i < n; ++i) {
    const auto at = [&](int j) { return static_cast<std::size_t>(j); };
    const auto kernel = [&](const float* p, int j) {
      return std::exp(-gamma * squared_distance(p, z.view()[j], dim)) * weight[at(j)];
    };
    for (int k = 0; k < dim; ++k) {
      constexpr float h = 1.0f / 256;
      std::vector<float> p(z.view()[i], z.view()[i] + dim);
      double slope = 0, pull = 0;
      for (int j = 0; j < n; ++j) {
        p[at(k)] = z.view()[i][k] + h;
        slope += kernel(p.data(), j);
        p[at(k)] = z.view()[i][k] - h;
        slope -= kernel(p.data(), j);
        pull += kernel(z.view()[i], j) * double{gradient.view()[j][k]};
      }
      slope /= 2 * double{h};
      EXPECT_NEAR(repulsion.view()[i][k], -slope, 2e-5);
      EXPECT_NEAR(phi.view()[i][k], pull - slope, 2e-5);
    }
  }
}

TEST(DsvgdDirection, WeightsAreASoftmaxOfWhatIsFinite) {
  std::vector<double> w = {1000, 1000 + std::log(3), NAN, INFINITY, -INFINITY, -1e9};
  softmax(w);
  EXPECT_NEAR(w[0], 0.25, 1e-12);
  EXPECT_NEAR(w[1], 0.75, 1e-12);
  for (std::size_t j = 2; j < w.size(); ++j) EXPECT_EQ(w[j], 0);
  std::vector<double> none = {NAN, INFINITY};
  softmax(none);
  EXPECT_EQ(none, (std::vector<double>{0, 0}));
}

// With t -> 0 the surrogate becomes the target, and every particle counts the same.
TEST(Dsvgd, WeightsBecomeEqualAsTheTemperatureFalls) {
  for (const SmallTarget& small : small_targets()) {
    const auto target = small.make();
    if (!target->domain().two_level()) continue;
    constexpr int n = 20;
    const int dim = target->domain().dim();
    const auto z = random_points(n, dim);
    const RowBuffer<float> gradient(n, dim);
    const RowBuffer<Symbol> x(n, dim);
    Workspace work;
    std::vector<double> logp(n);
    for (int r = 0; r < n; ++r) threshold(z.view()[r], dim, x.view()[r], x.view()[r]);
    target->evaluate(work.at(0), x.view(), logp.data(), {});
    const auto spread = [&](double temperature) {  // largest |n w_j - 1|
      std::vector<double> w(n);
      surrogate(*target, temperature, z.view(), 0, work, w.data(), gradient.view());
      for (std::size_t j = 0; j < n; ++j) w[j] -= logp[j];
      softmax(w);
      EXPECT_NEAR(std::accumulate(w.begin(), w.end(), 0.0), 1, 1e-12);
      double worst = 0;
      for (double e : w) worst = std::max(worst, std::abs(n * e - 1));
      return worst;
    };
    EXPECT_GT(spread(2), 0.1) << small.name;
    EXPECT_LT(spread(1e-4), 1e-3) << small.name;
  }
}

// The surrogate's gradient against differences of the surrogate.
TEST(Dsvgd, GradientIsThatOfTheSurrogate) {
  for (const SmallTarget& small : small_targets()) {
    const auto target = small.make();
    if (!target->domain().two_level()) continue;
    const int dim = target->domain().dim();
    const auto z = random_points(1, dim), room = random_points(1, dim);
    const RowBuffer<float> gradient(1, dim);
    Workspace work;
    for (double temperature : {0.5, 2.0}) {
      surrogate(*target, temperature, z.view(), 0, work, nullptr, gradient.view());
      const std::vector<float> kept(gradient.view()[0], gradient.view()[0] + dim);
      for (int i = 0; i < dim; ++i) {
        const auto log_surrogate = [&](float by) {
          std::copy_n(z.view()[0], dim, room.view()[0]);
          room.view()[0][i] += by;
          double logp = 0;
          surrogate(*target, temperature, room.view(), 0, work, &logp, gradient.view());
          return logp - std::pow(double{room.view()[0][i]}, 2) / 2;
        };
        constexpr float h = 1.0f / 32;
        const double slope = (8 * (log_surrogate(h) - log_surrogate(-h)) -
                              (log_surrogate(2 * h) - log_surrogate(-2 * h))) /
                             (12 * double{h});
        EXPECT_NEAR(kept[static_cast<std::size_t>(i)], slope, 2e-4) << small.name;
      }
    }
  }
}

TEST(Dsvgd, SeedsMatterOnlyThroughTheStart) {
  const IsingLattice target(3, 3, true, 0.1, 0.2);
  const Dsvgd sampler({});
  OneTile a(target, sampler, 12, 1), same(target, sampler, 12, 1), other(target, sampler, 12, 2);
  EXPECT_NE(a.z(), other.z());
  same.work.seed = 99;
  same.tile.step = 1234;
  for (int k = 0; k < 100; ++k) {
    sampler.step(target, a.tile, a.work, a.info);
    sampler.step(target, same.tile, same.work, same.info);
  }
  EXPECT_EQ(a.z(), same.z());
  EXPECT_EQ(a.work.evaluations.gradient, 1200u);
  EXPECT_EQ(a.work.evaluations.logp, 1200u);
  for (int r = 0; r < 12; ++r)
    EXPECT_NEAR(a.logp[static_cast<std::size_t>(r)], logp_of(target, a.tile.x[r]), 1e-9);
}

// Adam by its definition, on one particle, whose direction is the gradient of log p_s.
TEST(Dsvgd, OneParticleClimbsByAdam) {
  const Bernoulli target({-1.5, 0.2, 2});
  const Dsvgd sampler({0.05, 2});
  OneTile one(target, sampler, 1, 5);
  std::vector<double> z, m(3), v(3);
  for (float e : one.z()) z.push_back(double{e});
  const double logits[] = {-1.5, 0.2, 2};
  for (int step = 1; step <= 200; ++step) {
    sampler.step(target, one.tile, one.work, one.info);
    std::uint32_t crossed = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      const double s = 1 / (1 + std::exp(-z[i] / 2));
      const double phi = -z[i] + logits[i] * s * (1 - s) / 2;
      m[i] = 0.9 * m[i] + 0.1 * phi;
      v[i] = 0.999 * v[i] + 0.001 * phi * phi;
      const bool above = z[i] > 0;
      z[i] += 0.05 * m[i] / (1 - std::pow(0.9, step)) /
              (std::sqrt(v[i] / (1 - std::pow(0.999, step))) + 1e-8);
      crossed += above != (z[i] > 0);
      ASSERT_NEAR(one.z()[i], z[i], 1e-4) << step;
    }
    EXPECT_EQ(one.info[0].changed, crossed);
  }
}

// Independent bits: the particles' means approach those of the model. The method is approximate.
TEST(Dsvgd, MeansApproachThoseOfTheModel) {
  const Bernoulli target({-1.5, 0.2, 2});
  RunPlan plan;
  plan.chains = 100;
  plan.warmup = 1000;
  plan.draws = 1;
  const KeepDraws draws = draws_of_one_run(target, "dsvgd", {}, plan);
  const double logits[] = {-1.5, 0.2, 2};
  for (std::size_t i = 0; i < 3; ++i) {
    double mean = 0;
    for (const auto& x : draws.states) mean += x[i] / 100.0;
    EXPECT_NEAR(mean, 1 / (1 + std::exp(-logits[i])), 0.1) << i;
  }
}

TEST(Dsvgd, ResumedRunsGoOnAsIfNeverStopped) {
  for (const SmallTarget& small : small_targets()) {
    const auto target = small.make();
    if (!target->domain().two_level()) continue;
    RunPlan plan;
    plan.chains = 7;
    plan.tile = 3;  // all the same, the particles are one tile
    plan.warmup = 50;
    plan.draws = 300;
    const Settings settings = {{"learning_rate", "0.1"}};
    const KeepDraws whole = draws_of_one_run(*target, "dsvgd", settings, plan);
    const KeepDraws parts = draws_of_interrupted_runs(*target, "dsvgd", settings, plan);
    EXPECT_EQ(whole.states, parts.states) << small.name;
    EXPECT_EQ(whole.logp, parts.logp) << small.name;
    plan.seed = 2;
    EXPECT_NE(whole.states, draws_of_one_run(*target, "dsvgd", settings, plan).states);
  }
}

// A gradient or log p that is not finite neither spreads to other particles nor goes unseen.
TEST(Dsvgd, ParticlesThatAreNotFiniteAreLeftOutAndCounted) {
  for (bool gradient_too : {false, true}) {
    const Function target(Domain::binary(2), [=](std::span<const double> v, std::span<double> g) {
      for (double& e : g) e = gradient_too && v[0] > 0.6 ? NAN : 0.5;
      return !gradient_too && v[0] > 0.6 ? NAN : 0.5 * (v[0] + v[1]);
    });
    const Dsvgd sampler({0.05, 2});
    OneTile p(target, sampler, 10, 3);
    std::size_t counted = 0;
    for (int step = 0; step < 200; ++step) {
      sampler.step(target, p.tile, p.work, p.info);
      for (const StepInfo& i : p.info) counted += i.nonfinite;
    }
    EXPECT_GT(counted, 0u);
    for (float z : p.z()) EXPECT_TRUE(std::isfinite(z));
  }
}

TEST(Dsvgd, RefusesWhatDoesNotFit) {
  const Bernoulli target({0.1});
  for (const Settings& settings :
       {Settings{{"learning_rate", "0"}}, Settings{{"temperature", "-1"}}}) {
    EXPECT_THROW(make_sampler("dsvgd", target, settings), UsageError);
  }
  const Poisson counts({1.0});
  EXPECT_THROW(make_sampler("dsvgd", counts, {}), UsageError);
}

}  // namespace
}  // namespace saltus
