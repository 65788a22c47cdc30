// Restarts of a search against exact probabilities of ending in, and of passing, the best state.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "saltus/anneal/schedule.hpp"
#include "saltus/anneal/search.hpp"
#include "saltus/core/error.hpp"
#include "saltus/sampler/registry.hpp"
#include "saltus/target/tempered.hpp"
#include "temper/cut16.hpp"
#include "temper/models.hpp"

namespace saltus {
namespace {

std::shared_ptr<const Sampler> sampler_for(const Target& target, const std::string& name,
                                           const Settings& settings) {
  const Tempered path(target, Independent::uniform(target.domain()));
  return make_sampler(name, path, settings);
}

std::shared_ptr<const Sampler> sweeps(const Target& target) {
  return sampler_for(target, "gibbs", {{"scan", "systematic"}, {"updates", "sweep"}});
}

double share(const std::vector<double>& logp, double optimum) {
  const auto count = std::ranges::count_if(logp, [&](double v) { return v > optimum - 1e-6; });
  return static_cast<double>(count) / static_cast<double>(logp.size());
}

struct Case {
  const char* name;
  std::shared_ptr<const Target> target;
  double optimum;
  bool geometric;
  int steps;
  double last, best;  // exact probabilities
};

std::vector<Case> cases() {
  return {{"glass10", glass10(), 17.52, true, 10, .3589968769, .3721527140},
          {"glass10", glass10(), 17.52, false, 10, .3128828592, .3140573950},
          {"glass10", glass10(), 17.52, true, 20, .4148777177, .4633763679},
          {"glass10", glass10(), 17.52, false, 20, .3702608649, .3750723911},
          {"glass10", glass10(), 17.52, true, 50, .4758848753, .6315073509},
          {"glass10", glass10(), 17.52, false, 50, .4532951373, .4822165350},
          {"cut16", cut16(), 14, true, 10, .8604414290, .8928992825},
          {"cut16", cut16(), 14, false, 10, .9250194842, .9550937313},
          {"cut16", cut16(), 14, true, 20, .9340899415, .9808827312},
          {"cut16", cut16(), 14, false, 20, .9633883013, .9966909153},
          {"ferro8", ferro8(), 14.4, true, 20, .5408257866, .5930185591},
          {"ferro8", ferro8(), 14.4, false, 20, .5258439979, .5274853953}};
}

void expect_share(const Case& c, const SearchPlan& plan, const Found& found) {
  const auto near = [&](const std::vector<double>& logp, double p) {
    EXPECT_NEAR(share(logp, c.optimum), p, 4 * std::sqrt(p * (1 - p) / plan.restarts))
        << c.name << " " << (c.geometric ? "geometric " : "linear ") << c.steps;
  };
  near(found.last_logp, c.last);
  near(found.logp, c.best);
}

SearchPlan plan_of(const Case& c, int restarts) {
  SearchPlan plan;
  const BetaRange range{.2, 5};
  plan.betas = c.geometric ? geometric_schedule(range, c.steps) : linear_schedule(range, c.steps);
  plan.restarts = restarts;
  return plan;
}

TEST(Search, ReachesTheBestStateAsOftenAsItMust) {
  for (const Case& c : cases()) {
    SearchPlan plan = plan_of(c, 20'000);
    plan.in_lanes = false;
    Search search(*c.target, sweeps(*c.target), plan);
    ASSERT_TRUE(search.go());
    expect_share(c, plan, search.found());
  }
}

// The other path for spins with whole couplings has the same law.
TEST(Search, InLanesTheSameHolds) {
  for (const Case& c : cases()) {
    const SearchPlan plan = plan_of(c, 100'000);
    Search search(*c.target, sweeps(*c.target), plan);
    EXPECT_EQ(search.in_lanes(), c.name != std::string("glass10"));
    if (!search.in_lanes()) continue;
    ASSERT_TRUE(search.go());
    expect_share(c, plan, search.found());
  }
}

TEST(Search, ByDmalaAtAFixedStepSize) {
  const Case c{"glass10", glass10(), 17.52, true, 20, .2812901596, .2849354009};
  const SearchPlan plan = plan_of(c, 20'000);
  Search search(*c.target, sampler_for(*c.target, "dmala", {{"step_size", "0.5"}}), plan);
  ASSERT_TRUE(search.go());
  expect_share(c, plan, search.found());
}

TEST(Search, AtConstantThermodynamicSpeed) {
  // 20 steps at equal parts of the exact integral of the standard deviation of log p.
  const auto target = glass10();
  std::vector<double> betas, means, b_k;
  const double expected[][2] = {{1, .2397614968}, {10, .7989406744}, {18, 3.4411396689}};
  std::vector<double> logp;
  for (unsigned s = 0; s < 1024; ++s) {
    Symbol x[64] = {};
    for (unsigned i = 0; i < 10; ++i) x[i] = static_cast<Symbol>(s >> i & 1);
    logp.push_back(logp_of(*target, x));
  }
  for (int q = 0; q <= 20'000; ++q) {
    const double b = .2 + 4.8 * q / 20'000;
    double z = 0, mean = 0;
    for (const double l : logp) {
      const double w = std::exp(b * (l - 17.52));
      z += w, mean += w * l;
    }
    betas.push_back(b), means.push_back(mean / z);
  }
  const std::vector<double> schedule = adaptive_schedule(betas, means, 20);
  for (const auto& e : expected) {
    // 20,000 parts, each with the 1e-9 that keeps it from being 0.
    EXPECT_NEAR(schedule[static_cast<std::size_t>(e[0])], e[1], 1e-4);
  }
  const Case c{"glass10", target, 17.52, true, 20, .4267114354, .4924816239};
  SearchPlan plan = plan_of(c, 20'000);
  plan.betas = schedule;
  Search search(*target, sweeps(*target), plan);
  ASSERT_TRUE(search.go());
  expect_share(c, plan, search.found());
}

struct PopulationCase {
  std::shared_ptr<const Target> target;
  double log_z, sd, rho_t;
};

// 200 replicas, 20 moves from b = 0 to 1. The mean of Z is exact; the spread of log Z and rho_t are
// those of an independent program.
TEST(Search, PopulationsEstimateLogZ) {
  for (const PopulationCase& c : {PopulationCase{ferro8(), 14.7783104356, .074, 3.5},
                                  {glass10(), 18.6674094053, .087, 3.7}}) {
    constexpr int kPopulations = 400;
    double sum = 0, logs = 0, squares = 0, rho = 0;
    for (int k = 0; k < kPopulations; ++k) {
      SearchPlan plan;
      plan.betas = linear_schedule({.05, 1}, 20);
      plan.restarts = 200;
      plan.resample = true;
      plan.threads = 1;
      plan.seed = 1 + static_cast<std::uint64_t>(k);
      Search search(*c.target, sweeps(*c.target), plan);
      ASSERT_TRUE(search.go());
      const Population p = *search.population();
      const double error = p.log_z - c.log_z;
      sum += std::exp(error), logs += error, squares += error * error, rho += p.rho_t;
      EXPECT_GE(p.families, 1);
      EXPECT_LE(p.families, 200);
    }
    const double sd = std::sqrt(squares / kPopulations - std::pow(logs / kPopulations, 2));
    EXPECT_NEAR(sum / kPopulations, 1, 4 * c.sd / std::sqrt(kPopulations));
    EXPECT_NEAR(sd, c.sd, 4 * c.sd / std::sqrt(2.0 * kPopulations));
    EXPECT_NEAR(rho / kPopulations, c.rho_t, .2);
  }
}

TEST(Search, StartsCountAndTiesKeepTheEarlier) {
  const auto target = cut16();
  SearchPlan plan;
  plan.betas = {50, 50, 50, 50};  // at once to a local optimum, then nothing but ties
  plan.restarts = 200;
  plan.trace = true;
  for (const bool in_lanes : {false, true}) {
    plan.in_lanes = in_lanes;
    Search search(*target, sweeps(*target), plan);
    ASSERT_TRUE(search.go());
    EXPECT_EQ(search.in_lanes(), in_lanes);
    const Found& found = search.found();
    for (std::size_t r = 0; r < 200; ++r) {
      ASSERT_EQ(found.trace[r].size(), 4u);
      EXPECT_EQ(found.last_logp[r], found.trace[r].back());
      EXPECT_NEAR(logp_of(*target, found.state.view()[static_cast<int>(r)]), found.logp[r], 1e-9);
      for (std::size_t k = 0; k < 4; ++k) {
        EXPECT_LE(found.trace[r][k], found.logp[r] + 1e-9);
        if (k + 1 < found.step[r]) {
          EXPECT_LT(found.trace[r][k], found.logp[r] - 1e-9);
        }
      }
      if (found.step[r] > 0) {
        EXPECT_NEAR(found.trace[r][found.step[r] - 1], found.logp[r], 1e-9);
      }
    }
  }
}

void expect_same(const Found& a, const Found& b, int shift = 0) {
  for (std::size_t r = 0; r < b.logp.size(); ++r) {
    const std::size_t at = r + static_cast<std::size_t>(shift);
    EXPECT_EQ(a.logp[at], b.logp[r]);
    EXPECT_EQ(a.step[at], b.step[r]);
    EXPECT_TRUE(std::ranges::equal(a.state.view().row(static_cast<int>(at)),
                                   b.state.view().row(static_cast<int>(r))));
  }
}

TEST(Search, BitsDependNeitherOnThreadsNorOnRangesOfRestarts) {
  const auto glass = glass10(), cut = cut16();
  for (const bool tuned : {false, true}) {
    const Target& target = tuned ? *glass : *cut;
    const auto sampler = tuned ? sampler_for(target, "dmala", {}) : sweeps(target);
    SearchPlan plan;
    plan.betas = geometric_schedule({.2, 5}, 30);
    plan.restarts = 150;
    plan.threads = 1;
    Search one(target, sampler, plan);
    ASSERT_TRUE(one.go());
    plan.threads = 3;
    Search three(target, sampler, plan);
    int rounds = 0;
    while (!three.go([&](std::size_t, std::size_t) { return ++rounds % 2 == 0; })) {
    }
    expect_same(one.found(), three.found());
    if (tuned) continue;  // tuning follows all restarts
    plan.first_restart = 50;
    plan.restarts = 30;
    Search part(target, sampler, plan);
    ASSERT_TRUE(part.go());
    EXPECT_TRUE(part.in_lanes());
    expect_same(one.found(), part.found(), 50);
    plan.first_restart = 0;
    plan.restarts = 1000;  // side by side in other numbers
    Search many(target, sampler, plan);
    ASSERT_TRUE(many.go());
    expect_same(many.found(), one.found());
    plan.first_restart = 777;
    plan.restarts = 1;
    Search alone(target, sampler, plan);
    ASSERT_TRUE(alone.go());
    expect_same(many.found(), alone.found(), 777);
  }
}

TEST(Search, PolishEndsWhereNoChangeImproves) {
  for (const auto& target : {glass10(), potts5(), rbm3()}) {
    SearchPlan plan;
    plan.betas = {1e-6};
    plan.restarts = 50;
    Search search(*target, sampler_for(*target, "gibbs", {}), plan);
    search.go();
    Found found = search.take_found();
    finish_states(*target, found, true);
    for (int r = 0; r < 50; ++r) {
      Symbol* x = found.state.view()[r];
      EXPECT_EQ(logp_of(*target, x), found.logp[static_cast<std::size_t>(r)]);
      for (int i = 0; i < target->domain().dim(); ++i) {
        const Symbol here = x[i];
        for (int k = 0; k < target->domain().levels(i); ++k) {
          x[i] = static_cast<Symbol>(k);
          EXPECT_LE(logp_of(*target, x), found.logp[static_cast<std::size_t>(r)] + 1e-4);
        }
        x[i] = here;
      }
    }
  }
}

TEST(Search, Refusals) {
  const auto target = cut16();
  SearchPlan plan;
  EXPECT_THROW(Search(*target, sweeps(*target), plan), UsageError);  // no betas
  plan.betas = {0.0, 1.0};
  EXPECT_THROW(Search(*target, sweeps(*target), plan), UsageError);
  plan.betas = {1.0};
  struct NoReduction : Reduction {
    std::vector<double> gather(std::span<const double>) override { return {}; }
  } parts;
  plan.resample = true;
  plan.reduction = &parts;
  EXPECT_THROW(Search(*target, sweeps(*target), plan), UsageError);
  plan.restarts = 0;
  EXPECT_THROW(Search(*target, sweeps(*target), plan), UsageError);
}

// Colder than the model only where the base is uniform.
TEST(Search, BetaAboveOne) {
  const auto target = cut16();
  Tempered cold(*target, Independent::uniform(target->domain()));
  cold.set_beta(3);
  Symbol x[64] = {1, 0, 1};
  double base[1], logp[1];
  Scratch scratch;
  cold.evaluate({0, 0, scratch}, {x, 1, 16, 64}, logp, {});
  base[0] = 16 * std::log(.5);
  EXPECT_NEAR(logp[0], 3 * logp_of(*target, x) - 2 * base[0], 1e-9);
  EXPECT_THROW(cold.set_beta(INFINITY), UsageError);
  EXPECT_THROW(cold.set_beta(-1), UsageError);
  Tempered other(*target, Independent::bernoulli(target->domain(), std::vector<double>(16, .4)));
  EXPECT_THROW(other.set_beta(1.5), UsageError);
}

}  // namespace
}  // namespace saltus
