#include "saltus/anneal/ais.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <thread>

#include "bases.hpp"
#include "saltus/core/error.hpp"
#include "saltus/diagnose/exact.hpp"
#include "saltus/sampler/proposal.hpp"
#include "saltus/sampler/registry.hpp"
#include "shared_parts.hpp"
#include "small_targets.hpp"

namespace saltus {
namespace {

using Direction = Annealing::Direction;

const Rbm& small_rbm() {
  static const Rbm rbm({.8, -1.2, .5, -.4, .9, 1.5}, {-.2, .4, -.6}, {.1, -.3});
  return rbm;
}

Tempered rbm_path() {
  return {small_rbm(), Independent::bernoulli(small_rbm().domain(), std::vector{.3, .6, .5})};
}

struct ExactAis {
  double mean_weight = 0, mean_log_weight = 0;
};

// Expectations over all chains: the measure of the states, weighted and not, is carried along by
// the exact transition matrices.
ExactAis exact_ais(Tempered path, const std::string& sampler, const Settings& settings,
                   std::vector<double> betas, Direction direction) {
  if (direction == Direction::reverse) std::reverse(betas.begin(), betas.end());
  path.set_beta(0);
  const StateTable base(path);
  path.set_beta(1);
  const StateTable model(path);
  const std::size_t n = model.size();
  const auto start = direction == Direction::forward ? base.probability() : model.probability();
  std::vector<double> law(start.begin(), start.end()), weighted = law;
  ExactAis result;
  for (std::size_t k = 1; k < betas.size(); ++k) {
    for (std::size_t s = 0; s < n; ++s) {
      const double log_factor = (betas[k] - betas[k - 1]) * (model.logp(s) - base.logp(s));
      result.mean_log_weight += law[s] * log_factor;
      weighted[s] *= std::exp(log_factor);
    }
    path.set_beta(betas[k]);
    const StateTable table(path);
    RowBuffer<double> matrix(static_cast<int>(n), static_cast<int>(n));
    std::vector<double> acceptance(n);
    make_sampler(sampler, path, settings)
        ->enumerable()
        ->transition_matrix(table, {}, matrix.view(), acceptance);
    for (std::vector<double>* measure : {&law, &weighted}) {
      std::vector<double> next(n);
      for (std::size_t s = 0; s < n; ++s) {
        for (std::size_t t = 0; t < n; ++t) {
          next[t] += (*measure)[s] * matrix.view()[static_cast<int>(s)][t];
        }
      }
      *measure = next;
    }
  }
  result.mean_weight = std::accumulate(weighted.begin(), weighted.end(), 0.0);
  return result;
}

const Settings kStep = {{"step_size", "0.2"}};

TEST(ExactAnnealing, GivesZOfTheRbm) {
  const double log_z = StateTable(small_rbm()).log_z();
  EXPECT_NEAR(log_z, 3.980046456637524, 1e-12);
  const int counts[] = {3, 6, 11};
  const double log_bias[] = {-.11835586, -.10055864, -.08034336};
  const double dula_bias[] = {1.0000832121, 1.0008410684, 1.0016738832};
  for (int c = 0; c < 3; ++c) {
    const std::vector<double> betas = linear_betas(counts[c]);
    const ExactAis e = exact_ais(rbm_path(), "dmala", kStep, betas, Direction::forward);
    EXPECT_NEAR(e.mean_weight / std::exp(log_z), 1, 1e-10);
    EXPECT_NEAR(e.mean_log_weight - log_z, log_bias[c], 1e-7);
    const ExactAis back = exact_ais(rbm_path(), "dmala", kStep, betas, Direction::reverse);
    EXPECT_NEAR(back.mean_weight * std::exp(log_z), 1, 1e-10);
    EXPECT_GT(-back.mean_log_weight, log_z);  // from above
    // An unadjusted kernel biases the estimate: this is what is refused.
    const ExactAis dula = exact_ais(rbm_path(), "dula", kStep, betas, Direction::forward);
    EXPECT_NEAR(dula.mean_weight / std::exp(log_z), dula_bias[c], 1e-9);
  }
}

AnnealingPlan plan_of(std::vector<double> betas, int chains, std::uint64_t seed) {
  AnnealingPlan plan;
  plan.betas = std::move(betas);
  plan.chains = chains;
  plan.seed = seed;
  plan.threads = 2;
  return plan;
}

struct Mean {
  double mean = 0, error = 0;
};

Mean mean_of(std::span<const double> values) {
  const auto n = static_cast<double>(values.size());
  Mean m;
  for (double v : values) m.mean += v / n;
  for (double v : values) m.error += (v - m.mean) * (v - m.mean);
  m.error = std::sqrt(m.error / (n - 1) / n);
  return m;
}

// The chains that are really annealed have the weights that the exact measure says: their mean and
// that of their logarithms, which depends on every transition.
class RealChains : public testing::TestWithParam<Direction> {};

TEST_P(RealChains, HaveTheExactWeights) {
  const Tempered path = rbm_path();
  const StateTable table(small_rbm());
  constexpr int chains = 40000;
  for (const char* name : {"dmala", "gibbs", "gwg"}) {
    const Settings settings = name == std::string("dmala") ? kStep : Settings{};
    const auto sampler = make_sampler(name, path, settings);
    // An uneven schedule: each beta counts.
    const std::vector<double> betas = {0, 0.05, 0.3, 0.4, 0.8, 1};
    Annealing annealing(path, *sampler, plan_of(betas, chains, 5), GetParam());
    if (GetParam() == Direction::forward) {
      annealing.start();
    } else {
      const RowBuffer<Symbol> states(chains, 3);
      for (int c = 0; c < chains; ++c) {
        double u = Stream(6, static_cast<std::uint32_t>(c), 0, Purpose::check).uniform();
        std::size_t s = 0;
        while (s + 1 < table.size() && (u -= table.probability()[s]) >= 0) ++s;
        std::copy_n(table.state(s), 3, states.view()[c]);
      }
      annealing.start(states.view());
    }
    EXPECT_TRUE(annealing.go());
    std::vector<double> weights;
    for (double l : annealing.log_weights()) weights.push_back(std::exp(l));
    const Mean weight = mean_of(weights), log_weight = mean_of(annealing.log_weights());
    const double sign = GetParam() == Direction::forward ? 1 : -1;
    const double z = std::exp(sign * table.log_z());
    EXPECT_NEAR(weight.mean, z, 4 * weight.error) << name;
    EXPECT_LT(weight.error, 0.01 * z);
    if (name == std::string("gibbs")) continue;  // its matrices take turns
    const ExactAis exact = exact_ais(path, name, settings, betas, GetParam());
    EXPECT_NEAR(log_weight.mean, exact.mean_log_weight, 4 * log_weight.error) << name;
    EXPECT_LT(log_weight.error, 0.003);
  }
}

INSTANTIATE_TEST_SUITE_P(Directions, RealChains,
                         testing::Values(Direction::forward, Direction::reverse),
                         [](const auto& p) {
                           return p.param == Direction::forward ? "forward" : "reverse";
                         });

TEST(Estimate, IsThatOfTheMeanWeight) {
  // Weights 1, 2, 3, far from 1 on the scale of floating-point numbers.
  const std::vector<double> logs = {1000, 1000 + std::log(2), 1000 + std::log(3)};
  const AisEstimate e = forward_estimate(logs);
  EXPECT_NEAR(e.log_z, 1000 + std::log(2), 1e-12);
  EXPECT_NEAR(e.ess, 36.0 / 14, 1e-12);
  EXPECT_NEAR(e.standard_error, 1 / std::sqrt(3.0) / 2, 1e-12);
  EXPECT_NEAR(reverse_estimate(logs).log_z, -1000 - std::log(2), 1e-12);
  EXPECT_EQ(e.log_weights, logs);
}

// 4 standard errors of both directions, and the interval of 2 on each side around the truth.
void expect_log_z(const Tempered& path, double log_z, std::unique_ptr<Sampler> sampler, int betas,
                  int chains = 200) {
  SCOPED_TRACE(path.name() + " " + sampler->name());
  AisPlan plan;
  plan.annealing = plan_of(linear_betas(betas), chains, 11);
  plan.warmup = 2000;
  const auto result = annealed_importance_sampling(path, std::move(sampler), plan);
  ASSERT_TRUE(result && result->reverse);
  for (const AisEstimate& e : {result->forward, *result->reverse}) {
    EXPECT_NEAR(e.log_z, log_z, 4 * e.standard_error);
    EXPECT_GT(e.standard_error, 0);
    EXPECT_LT(e.standard_error, 0.1);
    EXPECT_GT(e.ess, 0.5 * chains);
    EXPECT_GT(e.acceptance, 0.2);
  }
  // Means of logarithms bound log Z from both sides, up to their own error.
  const Mean low = mean_of(result->forward.log_weights),
             high = mean_of(result->reverse->log_weights);
  EXPECT_LT(low.mean, log_z + 4 * low.error);
  EXPECT_GT(-high.mean, log_z - 4 * high.error);
  EXPECT_LT(low.mean, result->forward.log_z);
  EXPECT_GT(-high.mean, result->reverse->log_z);
}

void expect_log_z(const Target& model, double log_z, Independent base, const char* sampler,
                  const Settings& settings, int betas, int chains = 200) {
  const Tempered path(model, std::move(base));
  expect_log_z(path, log_z, make_sampler(sampler, path, settings), betas, chains);
}

TEST(AnnealedImportanceSampling, AgreesWithTheExactLogZ) {
  const IsingLattice torus(5, 5, true, 0.1, 0.2), small(2, 2, true, 0.1, 0.2);
  constexpr double log_z = 19.6740857613409;
  const Independent uniform = Independent::uniform(torus.domain());
  expect_log_z(torus, log_z, uniform, "dmala", {}, 200);
  expect_log_z(torus, log_z, uniform, "pas", {}, 400);
  expect_log_z(torus, log_z, uniform, "gibbs", {{"updates", "sweep"}}, 200);
  for (const char* flips_one : {"gibbs", "gwg", "locally_balanced"}) {
    expect_log_z(torus, log_z, uniform, flips_one, {}, 1000);
  }
  expect_log_z(torus, log_z, uneven_base(torus.domain()), "dmala", {}, 300);
  expect_log_z(small, exact_answer(small).log_z, uneven_base(small.domain()), "dmala", {}, 100);
}

// A user's sampler: one flip, chosen uniformly, without a transition matrix.
class SingleFlip final : public Sampler {
 public:
  std::string name() const override { return "single flip"; }
  std::vector<Parameter> parameters() const override { return {}; }
  bool exact() const override { return true; }
  bool reversible() const override { return true; }
  Needs needs(const Target&) const override { return {.logp = true, .score = false}; }
  void step(const Target& target, Tile& tile, Workspace& work,
            std::span<StepInfo> info) const override {
    Tile& y = work.proposal;
    for (int r = 0; r < tile.rows(); ++r) {
      std::copy_n(tile.x[r], tile.x.cols, y.x[r]);
      const double u = work.stream(tile, r, Purpose::propose).uniform();
      y.x[r][static_cast<int>(u * tile.x.cols)] ^= 1;
      info[static_cast<std::size_t>(r)].proposed = 1;
    }
    evaluate_logp(target, tile, work);
    for (int r = 0; r < tile.rows(); ++r) {
      test_state(y.logp[r] - tile.logp[r], tile, r, work, info[static_cast<std::size_t>(r)]);
    }
    ++tile.step;
  }
};

TEST(AnnealedImportanceSampling, TakesASamplerWithoutAMatrix) {
  const IsingLattice torus(5, 5, true, 0.1, 0.2);
  const Tempered path(torus, Independent::uniform(torus.domain()));
  expect_log_z(path, 19.6740857613409, std::make_unique<SingleFlip>(), 1000);
}

TEST(AnnealedImportanceSampling, AgreesOnLevels) {
  for (const SmallTarget& t : small_targets()) {
    if (t.name == "poisson" || t.name == "lattice") continue;
    const auto model = t.make();
    const double log_z = exact_answer(*model).log_z;
    expect_log_z(*model, log_z, uneven_base(model->domain()), "dmala", {}, 100);
    expect_log_z(*model, log_z, Independent::uniform(model->domain()), "gibbs", {}, 100);
  }
}

// Beyond the first evaluation, values are brought along and refreshed: with a model that keeps
// pre-activations, over enough betas for several rounds.
TEST(AnnealedImportanceSampling, AgreesOnALargerRbm) {
  constexpr std::size_t visible = 12, hidden = 20;
  std::vector<double> w(visible * hidden), b(visible), c(hidden);
  const Stream stream(3, 0, 0, Purpose::check);
  for (std::size_t k = 0; k < w.size(); ++k) {
    w[k] = stream.uniform(static_cast<std::uint32_t>(k)) - 0.5;
  }
  const Rbm rbm(w, b, c);
  const double log_z = exact_answer(rbm).log_z;
  for (const char* name : {"dmala", "gibbs", "gwg"}) {
    expect_log_z(rbm, log_z, Independent::uniform(rbm.domain()), name, {}, 400);
  }
}

std::vector<double> weights(const Tempered& path, const Sampler& sampler, const AnnealingPlan& plan,
                            int rounds_of_part) {
  std::vector<std::byte> saved;
  for (;;) {
    Annealing annealing(path, sampler, plan, Direction::forward);
    annealing.start();
    if (!saved.empty()) {
      ByteReader in(saved);
      annealing.restore(in);
    }
    int rounds = 0;
    if (annealing.go([&](std::size_t made, std::size_t all) {
          EXPECT_LE(made, all);
          return ++rounds < rounds_of_part;
        })) {
      return {annealing.log_weights().begin(), annealing.log_weights().end()};
    }
    ByteWriter out;
    annealing.save(out);
    saved.assign(out.bytes().begin(), out.bytes().end());
  }
}

TEST(AnnealingOfManyChains, DoesNotDependOnThreadsOrStops) {
  const IsingLattice torus(5, 5, true, 0.1, 0.2);
  for (const Target* model :
       {static_cast<const Target*>(&torus), static_cast<const Target*>(&small_rbm())}) {
    const Tempered path(*model, uneven_base(model->domain()));
    for (const char* name : {"dmala", "gibbs", "gwg"}) {
      SCOPED_TRACE(name);
      const auto sampler = make_sampler(name, path, {});
      AnnealingPlan plan = plan_of(linear_betas(300), 13, 9);
      plan.steps_per_beta = 2;
      plan.threads = 1;
      const std::vector<double> one = weights(path, *sampler, plan, 1000);
      plan.threads = 3;
      EXPECT_EQ(weights(path, *sampler, plan, 1000), one);
      EXPECT_EQ(weights(path, *sampler, plan, 2), one);
      plan.seed = 10;
      EXPECT_NE(weights(path, *sampler, plan, 1000), one);
    }
  }
}

TEST(AnnealedImportanceSampling, ResultsDoNotDependOnThreads) {
  const Tempered path = rbm_path();
  AisPlan plan;
  plan.annealing = plan_of(linear_betas(50), 100, 3);
  plan.warmup = 300;
  plan.annealing.tile = 7;
  const auto run = [&](int threads) {
    plan.annealing.threads = threads;
    return *annealed_importance_sampling(path, make_sampler("dmala", path, {}), plan);
  };
  const AisResult a = run(1), b = run(3);
  EXPECT_EQ(a.forward.log_weights, b.forward.log_weights);
  EXPECT_EQ(a.reverse->log_weights, b.reverse->log_weights);
  EXPECT_NE(a.forward.log_weights, a.reverse->log_weights);
  EXPECT_LT(a.low(), a.high());
}

TEST(AnnealedImportanceSampling, PartsGiveTheWeightsOfOneRun) {
  const Tempered path = rbm_path();
  AisPlan plan;
  plan.annealing = plan_of(linear_betas(50), 24, 3);
  plan.annealing.tile = 4;
  plan.annealing.threads = 1;
  plan.warmup = 300;
  const AisResult whole =
      *annealed_importance_sampling(path, make_sampler("dmala", path, {}), plan);
  for (const int parts : {2, 3}) {
    const std::vector<ChainRange> ranges = chain_ranges(path, 24, 4, parts);
    SharedParts shared(parts);
    std::vector<AisResult> results(ranges.size());
    std::vector<std::jthread> threads;
    for (std::size_t p = 0; p < ranges.size(); ++p) {
      threads.emplace_back([&, p] {
        SharedParts::Part part(shared, p);
        AisPlan mine = plan;
        mine.annealing.chains = ranges[p].chains;
        mine.annealing.first_chain = ranges[p].first_chain;
        mine.annealing.reduction = &part;
        results[p] = *annealed_importance_sampling(path, make_sampler("dmala", path, {}), mine);
      });
    }
    threads.clear();
    std::vector<double> forward, reverse;
    for (const AisResult& r : results) {
      forward.insert(forward.end(), r.forward.log_weights.begin(), r.forward.log_weights.end());
      reverse.insert(reverse.end(), r.reverse->log_weights.begin(), r.reverse->log_weights.end());
    }
    EXPECT_EQ(forward, whole.forward.log_weights);
    EXPECT_EQ(reverse, whole.reverse->log_weights);
  }
}

TEST(AnnealedImportanceSampling, TunesAtTheModelAndCanBeStopped) {
  const Tempered path = rbm_path();
  AisPlan plan;
  plan.annealing = plan_of(linear_betas(200), 20, 3);
  plan.reverse = false;
  const auto result = annealed_importance_sampling(path, make_sampler("dmala", path, {}), plan);
  ASSERT_TRUE(result);
  EXPECT_FALSE(result->reverse);
  EXPECT_EQ(result->high(), INFINITY);
  const auto untuned = make_sampler("dmala", path, {});
  EXPECT_NE(std::get<double>(result->parameters[0].value), *untuned->step_size());
  for (const auto stage :
       {AisStatus::Stage::warmup, AisStatus::Stage::forward, AisStatus::Stage::reverse}) {
    plan.reverse = true;
    bool seen = false;
    EXPECT_FALSE(annealed_importance_sampling(path, make_sampler("dmala", path, {}), plan,
                                              [&](const AisStatus& s) {
                                                seen = s.stage == stage;
                                                return !seen;
                                              }));
    EXPECT_TRUE(seen);
  }
}

TEST(AnnealedImportanceSampling, RefusesWhatWouldBiasIt) {
  const Tempered path = rbm_path();
  const auto refusal = [&](const AisPlan& plan, const char* sampler,
                           const Settings& settings) -> std::string {
    try {
      annealed_importance_sampling(path, make_sampler(sampler, path, settings), plan);
    } catch (const UsageError& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(refusal({}, "dula", kStep), "dula biases the estimate; use dmala, gwg or gibbs");
  EXPECT_EQ(refusal({}, "rmala", kStep),
            "rmala is no Markov chain on the model's states; use dmala, gwg or gibbs");
  AisPlan plan;
  plan.annealing.betas = {0, 0.5, 0.5, 1};
  EXPECT_NE(refusal(plan, "dmala", kStep).find("number 3"), std::string::npos);
  plan.annealing.betas = {0.1, 1};
  EXPECT_NE(refusal(plan, "dmala", kStep).find("begin with 0"), std::string::npos);
  plan.annealing.betas = {0, NAN, 1};
  EXPECT_NE(refusal(plan, "dmala", kStep).find("number 2"), std::string::npos);
  plan = {};
  plan.annealing.chains = 1;
  EXPECT_NE(refusal(plan, "dmala", kStep).find("two chains"), std::string::npos);
  EXPECT_THROW(linear_betas(1), UsageError);
}

TEST(AnnealedImportanceSampling, RefusesBaseStatesThatTheModelForbids) {
  const Function model(Domain::binary(2), [](std::span<const double> v, std::span<double> g) {
    std::fill(g.begin(), g.end(), 0.0);
    return v[0] == 1 && v[1] == 1 ? -INFINITY : 0.0;
  });
  const Tempered path(model, Independent::uniform(model.domain()));
  AisPlan plan;
  plan.reverse = false;
  EXPECT_THROW(annealed_importance_sampling(path, make_sampler("gwg", path, {}), plan), DataError);
}

}  // namespace
}  // namespace saltus
