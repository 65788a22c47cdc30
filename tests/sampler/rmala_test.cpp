// RMALA: exact frequencies at any step size and temperature, its acceptance ratio written out,
// tuning, and resumed runs.
#include "saltus/sampler/rmala.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "long_run.hpp"
#include "one_tile.hpp"
#include "resume.hpp"
#include "saltus/core/error.hpp"
#include "sampler/informed/surrogate.hpp"
#include "small_targets.hpp"

namespace saltus {
namespace {

std::unique_ptr<Target> two_spins() {
  return make_ising(2, {{0, 1, 0.8}}, {0.4, -0.3});
}

std::unique_ptr<Target> small_target(const std::string& name) {
  const auto list = small_targets();
  return std::find_if(list.begin(), list.end(), [&](const auto& t) { return t.name == name; })
      ->make();
}

TEST(NormalBlock, HasTheMomentsOfTheNormalDistribution) {
  const Stream stream(3, 0, 0, Purpose::check);
  constexpr std::uint32_t blocks = 250000;
  double sum[5] = {}, products = 0;
  for (std::uint32_t b = 0; b < blocks; ++b) {
    const auto z = normal_block(stream, b);
    for (double e : z) {
      for (int k = 1; k < 5; ++k) sum[k] += std::pow(e, k);
    }
    products += z[0] * z[1] + z[2] * z[3] + z[0] * z[2];
  }
  const double n = 4.0 * blocks;
  // Standard errors: sqrt of 1, 2, 15, 96 over n.
  EXPECT_NEAR(sum[1] / n, 0, 4 * std::sqrt(1 / n));
  EXPECT_NEAR(sum[2] / n, 1, 4 * std::sqrt(2 / n));
  EXPECT_NEAR(sum[3] / n, 0, 4 * std::sqrt(15 / n));
  EXPECT_NEAR(sum[4] / n, 3, 4 * std::sqrt(96 / n));
  EXPECT_NEAR(products / blocks, 0, 4 * std::sqrt(3.0 / blocks));
}

struct Case {
  double step_size, temperature;
};
const std::vector<Case> kCases = {{0.1, 0.1}, {0.3, 0.1}, {0.3, 1}, {1.2, 0.5}, {0.1, 3}};

TEST(Rmala, StatesHaveTheirProbabilities) {
  for (const auto& target : {two_spins(), small_target("rbm")}) {
    const StateTable table(*target);
    for (const Case& c : kCases) {
      RunPlan plan;
      plan.chains = 256;
      plan.warmup = 500;
      plan.draws = 5000;
      const RmalaOptions options{c.step_size, false, c.temperature};
      const Deviation d = long_run(table, std::make_unique<Rmala>(options), plan);
      EXPECT_LT(d.worst, 4) << target->name() << " " << c.step_size << " " << c.temperature;
      EXPECT_LT(d.standard_error, 0.004);
    }
  }
}

// The same algorithm once more, in double precision and by the letter of its definition.
class LiteralRmala {
 public:
  LiteralRmala(const Target& target, const Case& parameters)
      : target_(target), eps_(parameters.step_size), t_(parameters.temperature) {}

  using Point = std::vector<double>;

  Point gradient(const Point& z) const {  // of log p_s
    const int dim = static_cast<int>(z.size());
    std::vector<float> v(z.size()), g(z.size());
    const auto s = [&](double e) { return 1 / (1 + std::exp(-e / t_)); };
    const double first = target_.domain().first_value(), spacing = target_.domain().spacing();
    for (std::size_t i = 0; i < z.size(); ++i) v[i] = static_cast<float>(first + spacing * s(z[i]));
    Scratch scratch;
    target_.relaxation()->evaluate_relaxed({0, 0, scratch}, {v.data(), 1, dim, dim}, nullptr,
                                           {g.data(), 1, dim, dim});
    Point out(z.size());
    for (std::size_t i = 0; i < z.size(); ++i) {
      out[i] = -z[i] + spacing * s(z[i]) * (1 - s(z[i])) / t_ * double{g[i]};
    }
    return out;
  }
  double log_target(const Point& z) const {
    std::vector<Symbol> x;
    double squares = 0;
    for (double e : z) x.push_back(e > 0), squares += e * e;
    return logp_of(target_, x.data()) - squares / 2;
  }
  double log_proposal(const Point& to, const Point& from) const {
    const Point g = gradient(from);
    double squares = 0;
    for (std::size_t i = 0; i < to.size(); ++i) {
      squares += std::pow(to[i] - from[i] - eps_ * g[i], 2);
    }
    return -squares / (4 * eps_);
  }
  double log_ratio(const Point& from, const Point& to, bool reverse = true) const {
    return log_target(to) - log_target(from) +
           (reverse ? log_proposal(from, to) - log_proposal(to, from) : 0);
  }
  Point propose(const Point& z, const std::array<double, 4>& normal) const {
    const Point g = gradient(z);
    Point to(z);
    for (std::size_t i = 0; i < z.size(); ++i) {
      to[i] += eps_ * g[i] + std::sqrt(2 * eps_) * normal[i];
    }
    return to;
  }

 private:
  const Target& target_;
  double eps_, t_;
};

// The check of frequencies sees a missing reverse term.
TEST(Rmala, FrequenciesShowAMissingReverseTerm) {
  const auto target = two_spins();
  const StateTable table(*target);
  const LiteralRmala literal(*target, {0.3, 0.5});
  for (bool reverse : {true, false}) {
    std::vector<std::vector<double>> counts(64, std::vector<double>(table.size()));
    for (std::uint32_t chain = 0; chain < 64; ++chain) {
      LiteralRmala::Point z{0.3, -0.4};
      for (std::uint64_t step = 0; step < 2100; ++step) {
        const auto to =
            literal.propose(z, normal_block(Stream(1, chain, step, Purpose::propose), 0));
        const double u = Stream(1, chain, step, Purpose::accept).uniform();
        if (std::log(u) < literal.log_ratio(z, to, reverse)) z = to;
        const Symbol x[2] = {z[0] > 0, z[1] > 0};
        if (step >= 100) ++counts[chain][table.index(x)];
      }
    }
    const double worst = deviation(table, counts).worst;
    EXPECT_TRUE(reverse ? worst < 4 : worst > 8) << reverse << " " << worst;
  }
}

TEST(Rmala, AcceptsByTheRatioOfItsDefinition) {
  for (const char* name : {"ising", "dense_ising", "rbm", "bernoulli", "lattice"}) {
    const auto target = small_target(name);
    const auto dim = static_cast<std::size_t>(target->domain().dim());
    for (const Case& c : kCases) {
      const Rmala sampler({c.step_size, false, c.temperature});
      const LiteralRmala literal(*target, c);
      OneTile one(*target, sampler, 8);
      const auto z = [&](int r) {
        return LiteralRmala::Point(one.tile.sampler_cache[r], one.tile.sampler_cache[r] + dim);
      };
      int accepted = 0, below_one = 0;
      for (int step = 0; step < 50; ++step) {
        std::vector<LiteralRmala::Point> before;
        for (int r = 0; r < 8; ++r) before.push_back(z(r));
        sampler.step(*target, one.tile, one.work, one.info);
        for (int r = 0; r < 8; ++r) {
          const StepInfo& done = one.info[static_cast<std::size_t>(r)];
          const auto& from = before[static_cast<std::size_t>(r)];
          if (!done.accepted) {
            EXPECT_EQ(z(r), from);
            continue;
          }
          const double ratio = literal.log_ratio(from, z(r));
          EXPECT_NEAR(done.acceptance, std::min(1.0, std::exp(ratio)), 1e-4) << name;
          ++accepted;
          below_one += ratio < -0.01;
          for (std::size_t i = 0; i < dim; ++i) {
            EXPECT_EQ(one.tile.x[r][i], z(r)[i] > 0);
            EXPECT_NEAR(one.tile.sampler_cache[r][dim + i], literal.gradient(z(r))[i], 1e-4);
          }
          EXPECT_NEAR(one.tile.logp[r], logp_of(*target, one.tile.x[r]), 2e-6);
        }
      }
      EXPECT_GT(accepted, 20);
      EXPECT_GT(below_one, 5);
      EXPECT_EQ(one.work.evaluations.gradient, 400u);
      EXPECT_EQ(one.work.evaluations.logp, 400u);
    }
  }
}

// z starts in the orthant of the given state, as far from its walls as a normal number is from 0.
TEST(Rmala, StartsInTheOrthantOfTheState) {
  const IsingLattice target(40, 50, true, 0.1, 0);
  const Rmala sampler({0.1, {}, 0.1});
  OneTile one(target, sampler, 2);
  double squares = 0;
  for (int i = 0; i < 2000; ++i) {
    ASSERT_EQ(one.tile.sampler_cache[0][i] > 0, one.tile.x[0][i] == 1);
    squares += double{one.tile.sampler_cache[0][i]} * double{one.tile.sampler_cache[0][i]};
  }
  EXPECT_NEAR(squares / 2000, 1, 4 * std::sqrt(2 / 2000.0));
  EXPECT_NE(one.tile.sampler_cache[0][2], one.tile.sampler_cache[1][2]);
}

TEST(Rmala, TuningReachesTheAcceptanceGoal) {
  const IsingLattice lattice(10, 10, true, 0.1, 0.2);
  const auto rbm = small_target("rbm");
  for (const Target* target : std::initializer_list<const Target*>{&lattice, rbm.get()}) {
    for (const Settings& settings :
         {Settings{}, Settings{{"step_size", "3"}, {"adapt", "true"}, {"temperature", "0.5"}}}) {
      RunPlan plan;
      plan.chains = 16;
      plan.warmup = 2000;
      plan.draws = 2000;
      saltus::Run run(*target, make_sampler("rmala", *target, settings), plan);
      run.start();
      run.go();
      EXPECT_NEAR(run.statistics().acceptance, 0.234, 0.05) << target->name();
      EXPECT_EQ(run.statistics().gradient_evaluations, 1);
      EXPECT_EQ(run.statistics().logp_evaluations, 1);
    }
  }
}

TEST(Rmala, ResumedRunsGoOnAsIfNeverStopped) {
  for (const char* name : {"lattice", "rbm", "dense_ising", "curved"}) {
    const auto target = small_target(name);
    RunPlan plan;
    plan.chains = 5;
    plan.tile = 3;
    plan.warmup = 100;
    plan.draws = 400;
    for (const Settings& settings : {Settings{}, Settings{{"step_size", "0.2"}}}) {
      const KeepDraws whole = draws_of_one_run(*target, "rmala", settings, plan);
      const KeepDraws parts = draws_of_interrupted_runs(*target, "rmala", settings, plan);
      EXPECT_EQ(whole.states, parts.states) << name;
      EXPECT_EQ(whole.logp, parts.logp) << name;
      plan.seed = 2;
      EXPECT_NE(whole.states, draws_of_one_run(*target, "rmala", settings, plan).states);
      plan.seed = 1;
    }
  }
}

// Another sampler that follows on the same chains finds everything current.
TEST(Rmala, LeavesWordThatTheScoreIsBehind) {
  const auto target = small_target("lattice");
  const Rmala sampler({0.5, {}, 0.1});
  OneTile one(*target, sampler, 4);
  while (one.tile.score_current) sampler.step(*target, one.tile, one.work, one.info);
  EXPECT_TRUE(one.tile.logp_current);
  EXPECT_FALSE(one.tile.target_cache_current);
}

TEST(Rmala, StatesThatAreForbiddenAreCountedRejections) {
  const Function target(Domain::binary(2), [](std::span<const double> v, std::span<double> g) {
    for (double& e : g) e = 0;
    return v[0] + v[1] == 2 ? -INFINITY : 0.0;
  });
  const Rmala sampler({0.5, {}, 0.1});
  OneTile one(target, sampler, 4);
  int nonfinite = 0;
  for (int step = 0; step < 500; ++step) {
    sampler.step(target, one.tile, one.work, one.info);
    for (int r = 0; r < 4; ++r) {
      ASSERT_LT(one.tile.x[r][0] + one.tile.x[r][1], 2);
      nonfinite += one.info[static_cast<std::size_t>(r)].nonfinite;
    }
  }
  EXPECT_GT(nonfinite, 0);
}

TEST(Rmala, RefusesWhatDoesNotFit) {
  const auto target = two_spins();
  const auto refused = [&](const Settings& settings) {
    EXPECT_THROW(make_sampler("rmala", *target, settings), UsageError);
  };
  refused({{"step_size", "0"}});
  refused({{"step_size", "inf"}});
  refused({{"temperature", "0"}});
  refused({{"temperature", "1e-40"}});
  refused({{"adapt", "false"}});
  for (const char* name : {"ordered", "potts", "poisson"}) {
    EXPECT_THROW(make_sampler("rmala", *small_target(name), {}), UsageError) << name;
  }
}

}  // namespace
}  // namespace saltus
