// Chains on a GPU against the host: energies, steps, exact laws, annealing, resuming.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cmath>
#include <iostream>

#include "cuda/chains/chains.hpp"
#include "cuda_fixture.hpp"
#include "resume.hpp"
#include "saltus/anneal/ais.hpp"
#include "saltus/cuda/models.hpp"
#include "saltus/diagnose/conformance.hpp"
#include "saltus/diagnose/exact.hpp"
#include "saltus/sampler/registry.hpp"
#include "saltus/target/rbm.hpp"

namespace saltus {
namespace {

using Cuda = CudaFixture;
using CudaEnergy = Cuda;
using CudaSteps = Cuda;
using CudaAnnealing = Cuda;
using CudaRun = Cuda;

Rbm random_rbm(int visible, int hidden, double size, std::uint64_t seed = 5) {
  const Stream stream(seed, 0, 0, Purpose::check);
  std::uint32_t next = 0;
  const auto numbers = [&](int count, double of) {
    std::vector<double> list(static_cast<std::size_t>(count));
    for (double& v : list) v = of * (2 * stream.uniform(next++) - 1);
    return list;
  };
  return Rbm(numbers(visible * hidden, size), numbers(visible, 0.5), numbers(hidden, 0.5));
}

RowBuffer<Symbol> random_states(int rows, int dim) {
  RowBuffer<Symbol> x(rows, dim);
  for (int r = 0; r < rows; ++r) {
    const Stream stream(8, static_cast<std::uint32_t>(r), 0, Purpose::check);
    for (int i = 0; i < dim; ++i) x.view()[r][i] = stream.word(static_cast<std::uint32_t>(i)) & 1;
  }
  return x;
}

// Pre-activations are sums of up to some hundred products in single precision: errors of a few
// 1e-6. log p adds up those of all hidden units; the score, those of the activations times weights.
constexpr double kLogpError = 1e-4, kScoreError = 2e-5;

TEST_F(CudaEnergy, IsThatOfTheHost) {
  struct Size {
    int visible, hidden, rows;
    double weights;
  };
  for (const Size& s : {Size{784, 500, 100, 0.1}, Size{5, 3, 1, 2}, Size{70, 33, 17, 0.5},
                        Size{513, 129, 2000, 0.2}, Size{31, 700, 16, 0.3}}) {
    SCOPED_TRACE(std::to_string(s.visible) + " x " + std::to_string(s.hidden));
    const Rbm rbm = random_rbm(s.visible, s.hidden, s.weights);
    const auto target = cuda::on_device(rbm);
    const RowBuffer<Symbol> x = random_states(s.rows, s.visible);
    const auto n = static_cast<std::size_t>(s.rows);
    std::vector<double> exact(n), logp(n), alone(n);
    RowBuffer<double> exact_score(s.rows, s.visible);
    RowBuffer<float> score(s.rows, s.visible), score_alone(s.rows, s.visible);
    Scratch scratch;
    const At at{0, 0, scratch};
    rbm.evaluate_exact(at, x.view(), exact.data(), exact_score.view());
    target->evaluate(at, x.view(), logp.data(), score.view());
    target->evaluate(at, x.view(), alone.data(), {});
    target->evaluate(at, x.view(), nullptr, score_alone.view());
    double logp_error = 0, score_error = 0;
    for (int r = 0; r < s.rows; ++r) {
      const auto k = static_cast<std::size_t>(r);
      logp_error = std::max(logp_error, std::abs(logp[k] - exact[k]));
      EXPECT_EQ(alone[k], logp[k]);
      for (int i = 0; i < s.visible; ++i) {
        score_error =
            std::max(score_error, std::abs(double{score.view()[r][i]} - exact_score.view()[r][i]));
        EXPECT_EQ(score_alone.view()[r][i], score.view()[r][i]);
      }
    }
    std::cout << s.visible << " x " << s.hidden << ": errors of log p " << logp_error
              << ", of the score " << score_error << "\n";
    EXPECT_LT(logp_error, kLogpError);
    EXPECT_LT(score_error, kScoreError);
  }
}

// States and acceptance of every step.
class Watch final : public StepObserver {
 public:
  explicit Watch(int chains)
      : states(static_cast<std::size_t>(chains)), acceptance(states.size()) {}
  bool wants_logp(std::uint64_t) const override { return true; }
  void after_step(const Tile& tile, std::span<const StepInfo> info, std::uint64_t) override {
    for (int r = 0; r < tile.rows(); ++r) {
      const std::size_t chain = tile.first_slot + static_cast<std::uint32_t>(r);
      states[chain].insert(states[chain].end(), tile.x[r], tile.x[r] + tile.x.cols);
      acceptance[chain] += info[static_cast<std::size_t>(r)].acceptance;
      if (last_step == 0) first_logp.resize(states.size()), first_logp[chain] = tile.logp[r];
    }
    last_step = tile.step;
  }
  std::vector<std::vector<Symbol>> states;
  std::vector<double> acceptance, first_logp;
  std::uint64_t last_step = 0;
};

struct Mean {
  double mean = 0, variance = 0;  // of the mean
};
Mean mean_of(const std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  Mean m;
  for (double v : values) m.mean += v / n;
  for (double v : values) m.variance += (v - m.mean) * (v - m.mean) / (n * (n - 1));
  return m;
}

// Coordinates of uneven probabilities.
std::shared_ptr<const Independent> uneven_base(const Domain& domain) {
  std::vector<double> upper;
  for (int i = 0; i < domain.dim(); ++i) upper.push_back(0.2 + 0.6 * i / domain.dim());
  return std::make_shared<const Independent>(Independent::bernoulli(domain, upper));
}

// How many steps each chain's states are the same, in increasing order.
std::vector<int> steps_together(const Watch& a, const Watch& b, int dim) {
  std::vector<int> together;
  for (std::size_t c = 0; c < a.states.size(); ++c) {
    EXPECT_EQ(a.states[c].size(), b.states[c].size());
    const auto parting = std::mismatch(a.states[c].begin(), a.states[c].end(), b.states[c].begin());
    together.push_back(static_cast<int>((parting.first - a.states[c].begin()) / dim));
  }
  std::sort(together.begin(), together.end());
  return together;
}

// The same random numbers: chains part only where rounding decides.
TEST_F(CudaSteps, FollowTheHostUntilRoundingDecides) {
  constexpr int kChains = 32, kSteps = 2000, kDim = 196, kTogether = 200;
  const Rbm rbm = random_rbm(kDim, 64, 0.3);
  const auto device = cuda::on_device(rbm);
  const auto base = uneven_base(rbm.domain());
  const std::vector<std::pair<std::string, Settings>> samplers = {{"dmala", {{"step_size", "0.2"}}},
                                                                  {"dula", {{"step_size", "0.1"}}},
                                                                  {"gwg", {}},
                                                                  {"gibbs", {{"updates", "1"}}}};
  for (const auto& [name, settings] : samplers) {
    for (const double beta : {0.3, 0.7, 1.0}) {
      SCOPED_TRACE(name + " at " + std::to_string(beta));
      std::vector<Watch> watched;
      for (const Target* target : std::initializer_list<const Target*>{&rbm, device.get()}) {
        Ensemble ensemble({{target, kChains, base, beta}}, {21});
        ensemble.start_random();
        ensemble.evaluate();
        Watch& watch = watched.emplace_back(kChains);
        ensemble.advance(*make_sampler(name, *target, settings), kSteps, watch);
        EXPECT_EQ(ensemble.step(), std::uint64_t{kSteps});
        EXPECT_EQ(watch.last_step, std::uint64_t{kSteps});
      }
      const std::vector<int> together = steps_together(watched[0], watched[1], kDim);
      const Mean here = mean_of(watched[0].acceptance), there = mean_of(watched[1].acceptance);
      std::cout << name << " at beta " << beta << ": steps until host and GPU part: first chain "
                << together.front() << ", median " << together[kChains / 2] << ", last "
                << together.back() << "; acceptance " << here.mean / kSteps << " and "
                << there.mean / kSteps << "\n";
      EXPECT_GE(together[kChains / 2], kTogether);
      EXPECT_LE(std::abs(here.mean - there.mean),
                4 * std::sqrt(here.variance + there.variance) + 1e-9 * kSteps);
      // log p is that of the tempered law, as long as the states are the same.
      for (std::size_t c = 0; c < kChains; ++c) {
        EXPECT_NEAR(watched[0].first_logp[c], watched[1].first_logp[c], kLogpError);
      }
    }
  }
}

const std::vector<std::pair<std::string, Settings>> kServed = {
    {"dmala", {{"step_size", "0.5"}}},    {"dmala", {{"step_size", "inf"}}},
    {"dula", {{"step_size", "0.3"}}},     {"gwg", {}},
    {"gibbs", {{"scan", "random"}}},      {"gibbs", {{"scan", "systematic"}}},
    {"gibbs", {{"scan", "permutation"}}},
};

std::string text(const std::string& name, const Settings& settings) {
  std::string all = name;
  for (const auto& [key, value] : settings) all += " " + key + "=" + value;
  return all;
}

TEST_F(CudaSteps, FollowTheTransitionMatrix) {
  const Rbm rbm = random_rbm(5, 3, 1.5);
  const auto target = cuda::on_device(rbm);
  const StateTable table(rbm);
  for (const auto& [name, settings] : kServed) {
    SCOPED_TRACE(text(name, settings));
    const auto sampler = make_sampler(name, *target, settings);
    EXPECT_TRUE(target->on_device()->make_chains(1, 1)->serves(*sampler, nullptr));
    const StepCheck s = check_steps(*sampler, *target, table, 20000);
    EXPECT_GT(s.p_value, 1e-5) << "chi-square " << s.chi_square << " on " << s.degrees;
    EXPECT_FALSE(s.impossible);
    EXPECT_GT(s.degrees, 0);
  }
}

struct NoWatch final : StepObserver {
  bool wants_logp(std::uint64_t) const override { return false; }
  bool wants_states(std::uint64_t) const override { return false; }
  void after_step(const Tile&, std::span<const StepInfo>, std::uint64_t) override {}
};

// Chi-square beyond which the probability is below 1e-6 (Wilson & Hilferty).
double chi_square_limit(double degrees) {
  const double v = 2 / (9 * degrees);
  return degrees * std::pow(1 - v + 4.753 * std::sqrt(v), 3);
}

// Independent chains, each after many steps: their states are draws from the model, or from a law
// between it and the base.
TEST_F(CudaSteps, LeadToTheModelAtEveryBeta) {
  constexpr int kChains = 20000;
  const Rbm rbm = random_rbm(5, 3, 1.5);
  const auto target = cuda::on_device(rbm);
  const auto base = uneven_base(rbm.domain());
  Tempered law(rbm, base);
  for (const double beta : {0.3, 0.7, 1.0}) {
    law.set_beta(beta);
    const StateTable table(law);
    for (const auto& [name, settings] : kServed) {
      if (name == "dula") continue;
      SCOPED_TRACE(text(name, settings) + " at " + std::to_string(beta));
      Ensemble ensemble({{target.get(), kChains, base, beta}}, {4, 1});
      ensemble.start_random();
      ensemble.evaluate();
      NoWatch none;
      ensemble.advance(*make_sampler(name, *target, settings), 301, none);
      std::vector<double> counts(table.size());
      for (int c = 0; c < kChains; ++c) ++counts[table.index(ensemble.state(c))];
      double chi_square = 0;
      for (std::size_t s = 0; s < table.size(); ++s) {
        const double expected = table.probability()[s] * kChains;
        chi_square += (counts[s] - expected) * (counts[s] - expected) / expected;
      }
      EXPECT_LT(chi_square, chi_square_limit(static_cast<double>(table.size()) - 1));
    }
  }
}

TEST_F(CudaAnnealing, FindsLogZ) {
  const Rbm rbm = random_rbm(6, 4, 1.5);
  const auto target = cuda::on_device(rbm);
  const double log_z = StateTable(rbm).log_z();
  const std::vector<double> upper = {.3, .6, .5, .2, .7, .4};
  const Tempered path(*target, Independent::bernoulli(rbm.domain(), upper));
  for (const auto& [name, settings] : kServed) {
    if (name == "dula") continue;
    SCOPED_TRACE(text(name, settings));
    AisPlan plan;
    plan.annealing.chains = 2000;
    plan.annealing.betas = linear_betas(101);
    plan.annealing.steps_per_beta = 2;
    plan.warmup = 500;
    const auto result =
        annealed_importance_sampling(path, make_sampler(name, path, settings), plan);
    ASSERT_TRUE(result);
    std::cout << text(name, settings) << ": log Z " << result->forward.log_z << " +- "
              << result->forward.standard_error << " and " << result->reverse->log_z << " +- "
              << result->reverse->standard_error << ", exactly " << log_z << "\n";
    EXPECT_NEAR(result->forward.log_z, log_z, 4 * result->forward.standard_error);
    EXPECT_NEAR(result->reverse->log_z, log_z, 4 * result->reverse->standard_error);
    EXPECT_GT(result->forward.acceptance, 0.1);
  }
}

// The same weights as on the host as long as rounding does not decide: nearly all of them.
TEST_F(CudaAnnealing, FollowsTheHost) {
  const Rbm rbm = random_rbm(40, 10, 0.6);
  const auto target = cuda::on_device(rbm);
  const Independent base = Independent::uniform(rbm.domain());
  AnnealingPlan plan;
  plan.betas = linear_betas(200);
  plan.chains = 50;
  for (const auto& [name, settings] : kServed) {
    if (name == "dula" || settings.contains("scan")) continue;
    SCOPED_TRACE(text(name, settings));
    std::vector<double> weights[2];
    for (int there : {0, 1}) {
      const Tempered path(there ? *target : static_cast<const Target&>(rbm), base);
      const auto sampler = make_sampler(name, path, settings);
      Annealing annealing(path, *sampler, plan, Annealing::Direction::forward);
      annealing.start();
      ASSERT_TRUE(annealing.go());
      weights[there].assign(annealing.log_weights().begin(), annealing.log_weights().end());
    }
    int close = 0;
    for (std::size_t c = 0; c < 50; ++c) close += std::abs(weights[0][c] - weights[1][c]) < 1e-3;
    EXPECT_GE(close, 40);
  }
}

RunPlan small_plan() {
  RunPlan plan;
  plan.chains = 7;
  plan.warmup = 300;
  plan.draws = 101;
  plan.thin = 3;
  return plan;
}

TEST_F(CudaRun, ResumesWithTheSameDraws) {
  const Rbm rbm = random_rbm(30, 12, 0.7);
  const auto target = cuda::on_device(rbm);
  std::vector<std::pair<std::string, Settings>> samplers = kServed;
  samplers.push_back({"dmala", {}});              // tuned
  samplers.push_back({"gwg", {{"flips", "2"}}});  // not served
  for (const auto& [name, settings] : samplers) {
    SCOPED_TRACE(text(name, settings));
    const KeepDraws whole = draws_of_one_run(*target, name, settings, small_plan());
    const KeepDraws again = draws_of_one_run(*target, name, settings, small_plan());
    EXPECT_EQ(again.states, whole.states);
    EXPECT_EQ(again.logp, whole.logp);
    const KeepDraws parts = draws_of_interrupted_runs(*target, name, settings, small_plan());
    EXPECT_EQ(parts.states, whole.states);
    EXPECT_EQ(parts.logp, whole.logp);
    Scratch scratch;
    for (std::size_t c = 0; c < whole.logp.size(); ++c) {
      std::vector<double> exact(whole.logp[c].size());
      const Rows<const Symbol> x{whole.states[c].data(), static_cast<int>(exact.size()), 30, 30};
      rbm.evaluate_exact({0, 0, scratch}, x, exact.data(), {});
      for (std::size_t t = 0; t < exact.size(); ++t) {
        ASSERT_NEAR(whole.logp[c][t], exact[t], kLogpError);
      }
    }
  }
}

std::vector<std::vector<Symbol>> some_steps(cuda::CudaChains& chains,
                                            const RowBuffer<Symbol>& start, const Sampler& sampler,
                                            std::uint64_t step, std::uint64_t steps) {
  Watch watch(start.view().rows);
  std::vector<double> logp(static_cast<std::size_t>(start.view().rows));
  chains.put_states(start.view());
  chains.evaluate(step, logp);
  chains.advance(sampler, {}, step, steps, watch);
  return watch.states;
}

TEST_F(CudaRun, ChangesTheStepSizeWithoutAnotherGraph) {
  const Rbm rbm = random_rbm(30, 12, 0.7);
  const auto target = cuda::on_device(rbm);
  const RowBuffer<Symbol> start = random_states(9, 30);
  const auto small = make_sampler("dmala", *target, {{"step_size", "0.1"}});
  const auto large = make_sampler("dmala", *target, {{"step_size", "2"}});
  const auto chains = target->on_device()->make_chains(9, 3);
  auto& first = dynamic_cast<cuda::CudaChains&>(*chains);
  const auto steps_small = some_steps(first, start, *small, 100, 21);
  const int captures = first.captures();
  EXPECT_EQ(captures, 2);  // many steps, and one
  const auto steps_large = some_steps(first, start, *large, 100, 21);
  EXPECT_EQ(first.captures(), captures);
  EXPECT_NE(steps_large, steps_small);
  const auto fresh = target->on_device()->make_chains(9, 3);
  EXPECT_EQ(some_steps(dynamic_cast<cuda::CudaChains&>(*fresh), start, *large, 100, 21),
            steps_large);

  // An evaluation of more rows may move the energy's memory, which graphs point to.
  const RowBuffer<Symbol> many = random_states(700, 30);
  std::vector<double> logp(700);
  Scratch scratch;
  target->evaluate({0, 0, scratch}, many.view(), logp.data(), {});
  EXPECT_EQ(some_steps(first, start, *small, 100, 21), steps_small);
}

// Many steps in few blocks and many blocks of few steps are the same, at every beta.
TEST_F(CudaRun, DoesNotDependOnTheBlocks) {
  const Rbm rbm = random_rbm(300, 12, 0.2);
  const auto target = cuda::on_device(rbm);
  const auto base = uneven_base(rbm.domain());
  for (const auto& [name, settings] : kServed) {
    for (const double beta : {0.6, 1.0}) {
      SCOPED_TRACE(text(name, settings) + " at " + std::to_string(beta));
      const auto sampler = make_sampler(name, *target, settings);
      std::vector<std::vector<Symbol>> states[2];
      for (int small : {0, 1}) {
        Ensemble ensemble({{target.get(), 64, base, beta}}, {77, 1});
        ensemble.start_random();
        ensemble.evaluate();
        Watch watch(64);
        // 64 chains of 300 coordinates: about 300 steps fit into a block.
        for (int done = 0; done < 1100; done += small ? 11 : 1100) {
          ensemble.advance(*sampler, small ? 11 : 1100, watch);
        }
        states[small] = watch.states;
      }
      EXPECT_EQ(states[0], states[1]);
    }
  }
}

}  // namespace
}  // namespace saltus
