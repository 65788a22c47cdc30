// Discrete Langevin Monte Carlo, exactly: an RBM of three bits, the heat kernel, extreme scores,
// tuning.
#include "saltus/sampler/dlmc.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "dlp_helpers.hpp"
#include "saltus/core/error.hpp"
#include "saltus/run/run.hpp"
#include "saltus/sampler/registry.hpp"
#include "saltus/target/bernoulli.hpp"
#include "saltus/target/function.hpp"
#include "saltus/target/ising_lattice.hpp"
#include "saltus/target/mini_batch.hpp"
#include "saltus/target/poisson.hpp"
#include "saltus/target/potts.hpp"
#include "saltus/target/rbm.hpp"

namespace saltus {
namespace {

using Form = DlmcOptions::Form;
constexpr Form kForms[] = {Form::heat, Form::euler};
constexpr Balancing kBalancing[] = {Balancing::sqrt, Balancing::ratio, Balancing::min,
                                    Balancing::max};

Dlmc dlmc(const Domain& domain, double tau, Form form, Balancing balancing, int window = 0) {
  DlmcOptions options;
  options.step_size = tau;
  options.form = form;
  options.balancing = balancing;
  options.window = window;
  return Dlmc(domain, options);
}

// q(k | x) of every level of every coordinate.
std::vector<double> law(const Dlmc& sampler, const Domain& domain, std::vector<Symbol> x,
                        std::vector<double> score) {
  std::size_t levels = 0;
  for (int i = 0; i < domain.dim(); ++i) levels += static_cast<std::size_t>(domain.levels(i));
  std::vector<double> p(levels);
  sampler.log_probabilities(domain, x.data(), score.data(), p);
  for (double& v : p) v = std::exp(v);
  return p;
}

TEST(Dlmc, RbmOfThreeBits) {
  const Rbm target({.8, -1.2, .5, -.4, .9, 1.5}, {-.2, .4, -.6}, {.1, -.3});
  const StateTable table(target);
  struct Row {
    Form form;
    Balancing balancing;
    double acceptance, flip[3];  // flip probabilities at 000
  };
  const Row rows[] = {
      {Form::heat, Balancing::sqrt, .99182333, {.2312580721, .2433400806, .2614101162}},
      {Form::euler, Balancing::sqrt, .98513561, {.3075576819, .3238549821, .3486942222}},
      {Form::heat, Balancing::ratio, .99410518, {.132814469, .1394870193, .1489373536}},
      {Form::euler, Balancing::ratio, .99304851, {.1537312569, .161454659, .1723933148}},
      {Form::heat, Balancing::min, .97047423, {}},
      {Form::euler, Balancing::min, .95546638, {.3, .3, .3}},
      {Form::heat, Balancing::max, .96581446, {}},
      {Form::euler, Balancing::max, .92852408, {}},
  };
  for (const Row& row : rows) {
    const Dlmc sampler = dlmc(target.domain(), .3, row.form, row.balancing);
    EXPECT_NEAR(check_transitions(sampler, table).acceptance, row.acceptance, 1e-7);
    if (row.flip[0] == 0) continue;
    std::vector<double> log_p(6);
    sampler.log_probabilities(target.domain(), table.state(0), table.score(0), log_p);
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_NEAR(std::exp(log_p[2 * i + 1]), row.flip[i], 1e-9);
    }
  }
}

TEST(Dlmc, FlipProbabilitiesOfTheHeatKernel) {
  const double flip[] = {.3148436125, .1731820957, .2416957596, .3976414263};
  const Domain bit = Domain::binary(1);
  for (std::size_t g = 0; g < 4; ++g) {
    const Dlmc sampler = dlmc(bit, .3, Form::heat, kBalancing[g]);
    EXPECT_NEAR(law(sampler, bit, {0}, {.7})[1], flip[g], 1e-10);
    EXPECT_NEAR(law(sampler, bit, {1}, {-.7})[0], flip[g], 1e-10);
  }
}

double weight(Balancing balancing, double d) {
  const double t = std::exp(d);
  switch (balancing) {
    case Balancing::sqrt:
      return std::sqrt(t);
    case Balancing::ratio:
      return t / (1 + t);
    case Balancing::min:
      return std::min(1.0, t);
    case Balancing::max:
      return std::max(1.0, t);
  }
  return 0;
}

// For two levels the heat form is the solution of the jump process with rates w_f and w_b.
TEST(Dlmc, TwoLevelsFollowTheJumpProcess) {
  const Domain bit = Domain::binary(1);
  for (const Balancing balancing : kBalancing) {
    for (const double d : {-9.0, -2.5, -.1, 0.0, .7, 3.0, 12.0}) {
      for (const double tau : {1e-6, .05, 1.0, 30.0}) {
        const double forward = weight(balancing, d), both = forward + weight(balancing, -d);
        const double flip = -forward / both * std::expm1(-both * tau);
        const auto p = law(dlmc(bit, tau, Form::heat, balancing), bit, {0}, {d});
        EXPECT_NEAR(p[1], flip, 1e-14);
        EXPECT_NEAR(p[1] / flip, 1, 1e-10);
        EXPECT_NEAR(p[0], 1 - flip, 1e-14);
      }
    }
  }
}

// The definition, written out, on a categorical coordinate and on a windowed one.
TEST(Dlmc, ManyLevelsFollowTheDefinition) {
  const auto expect = [](const Dlmc& sampler, const Domain& domain, Symbol x,
                         const std::vector<double>& score, const std::vector<double>& d, Form form,
                         Balancing balancing, double tau) {
    double sum = 0, leave = 0;
    for (double v : d) sum += std::exp(v);
    const auto p = law(sampler, domain, {x}, score);
    for (std::size_t k = 0; k < d.size(); ++k) {
      if (k == x) continue;
      const double nu = std::exp(d[k]) / sum, w = weight(balancing, d[k]);
      const double q = std::isinf(d[k])     ? 0
                       : form == Form::heat ? nu * (1 - std::exp(-tau * w / nu))
                                            : std::min(tau * w, nu);
      EXPECT_NEAR(p[k], q, 1e-14);
      leave += q;
    }
    EXPECT_NEAR(p[x], std::max(1 - leave, 1 / sum), 1e-14);
  };
  const Domain classes = Domain::categorical(1, 4), counts = Domain::integers(1, 6);
  for (const Form form : kForms) {
    for (const Balancing g : kBalancing) {
      for (const double tau : {.02, .4, 5.0}) {
        expect(dlmc(classes, tau, form, g), classes, 2, {.5, -1.2, .3, 2.0}, {.2, -1.5, 0, 1.7},
               form, g, tau);
        expect(dlmc(counts, tau, form, g, 2), counts, 1, {-.8},
               {.8, 0, -.8, -1.6, -INFINITY, -INFINITY}, form, g, tau);
      }
    }
  }
}

TEST(Dlmc, ExtremeScoresStayFiniteAndNormalised) {
  for (const Domain& domain : {Domain::binary(1), Domain::categorical(1, 3)}) {
    for (const Form form : kForms) {
      for (const Balancing g : kBalancing) {
        for (const double d : {-1000.0, 1000.0}) {
          for (const double tau : {1e-8, .3, 1e4}) {
            const Dlmc sampler = dlmc(domain, tau, form, g);
            const Symbol x = 0;
            const double score[] = {domain.kind() == Domain::Kind::ordered ? d : 0, d, -d};
            std::vector<double> log_p(static_cast<std::size_t>(domain.max_levels()));
            sampler.log_probabilities(domain, &x, score, log_p);
            double sum = 0;
            for (double v : log_p) {
              EXPECT_TRUE(std::isfinite(v));
              sum += std::exp(v);
            }
            EXPECT_NEAR(sum, 1, 1e-14);
          }
        }
      }
    }
  }
}

struct CountNonfinite final : StepObserver {
  std::uint64_t steps = 0, nonfinite = 0, accepted = 0;
  bool wants_logp(std::uint64_t) const override { return true; }
  void after_step(const Tile&, std::span<const StepInfo> info, std::uint64_t) override {
    for (const StepInfo& done : info) {
      ++steps;
      nonfinite += done.nonfinite;
      accepted += done.accepted;
    }
  }
};

// Scores of +-1000 that say nothing about log p: the proposal hardly fits, and the Metropolis test
// must still be right, with every logarithm finite.
TEST(Dlmc, StepsWithExtremeScores) {
  const auto wild = [](std::span<const double> v, std::span<double> g) {
    double sum = 0;
    for (const double e : v) sum += e;
    for (std::size_t k = 0; k < g.size(); ++k) {
      g[k] = (static_cast<int>(sum) + static_cast<int>(k)) % 3 == 0 ? 1000 : -1000;
    }
    return 0.3 * sum;
  };
  for (const Domain& domain :
       {Domain::binary(3), Domain::ordered({3, 2}), Domain::categorical({3, 2})}) {
    const Function target(domain, wild);
    const StateTable table(target);
    for (const Form form : kForms) {
      for (const Balancing g : kBalancing) {
        const Dlmc sampler = dlmc(domain, .3, form, g);
        EXPECT_LT(check_transitions(sampler, table).invariance, 1e-12);
        EXPECT_GT(check_steps(sampler, target, table, 4000).p_value, 1e-5);
        Ensemble ensemble(target, 8, 4, 1, 3);
        ensemble.start_random();
        ensemble.evaluate();
        CountNonfinite seen;
        ensemble.advance(sampler, 200, seen);
        EXPECT_EQ(seen.nonfinite, 0u);
        EXPECT_EQ(seen.steps, 1600u);
      }
    }
  }
}

// Where bit 0 moves freely, bit 1 stays almost surely on one side and flips almost surely on the
// other, so that the way back has a probability of about exp(-1000).
TEST(Dlmc, TinyProbabilityOfStayingOnTheWayBack) {
  const Function target(Domain::binary(2), [](std::span<const double> v, std::span<double> g) {
    if (!g.empty()) g[0] = 0, g[1] = v[0] > 0 ? 1000 : -1000;
    return 0.3 * v[1];
  });
  const StateTable table(target);
  for (const Form form : kForms) {
    const Dlmc sampler = dlmc(target.domain(), .3, form, Balancing::sqrt);
    const Matrix t(sampler, table);
    EXPECT_EQ(t(0, 2), 0);
    EXPECT_GT(t.buffer.view()[0][0], 0.9);
    const StepCheck s = check_steps(sampler, target, table, 4000);
    EXPECT_GT(s.p_value, 1e-5);
    EXPECT_FALSE(s.impossible);
  }
}

// Word i of the stream decides about coordinate i: with d = 0 and unlimited time it is a coin.
TEST(Dlmc, EveryCoordinateHasItsOwnWord) {
  const int dim = 150;
  const Bernoulli target{std::vector<double>(dim)};
  Ensemble ensemble(target, 3, 2, 1, 8);
  ensemble.start_random();
  ensemble.evaluate();
  std::vector<std::vector<Symbol>> before;
  for (int c = 0; c < 3; ++c) before.emplace_back(ensemble.state(c), ensemble.state(c) + dim);
  CountNonfinite seen;
  ensemble.advance(dlmc(target.domain(), INFINITY, Form::heat, Balancing::sqrt), 1, seen);
  EXPECT_EQ(seen.accepted, 3u);
  for (std::uint32_t c = 0; c < 3; ++c) {
    const Stream stream(8, c, 0, Purpose::propose);
    for (std::uint32_t i = 0; i < dim; ++i) {
      const bool flipped = ensemble.state(static_cast<int>(c))[i] != before[c][i];
      EXPECT_EQ(flipped, stream.word(i) < 0x80000000u);
    }
  }
}

// 32 chains x 500 draws: with an autocorrelation time of 20 steps the mean acceptance probability
// has a standard error of about 0.01.
TEST(Dlmc, TuningReachesItsAcceptance) {
  const IsingLattice target(20, 20, true, 0.1, 0.1);
  for (const char* form : {"heat", "euler"}) {
    for (const char* balancing : {"sqrt", "ratio", "min", "max"}) {
      RunPlan plan;
      plan.chains = 32;
      plan.warmup = 600;
      plan.draws = 500;
      plan.threads = 1;
      saltus::Run run(
          target, make_sampler("dlmc", target, {{"form", form}, {"balancing", balancing}}), plan);
      run.start();
      run.go();
      EXPECT_NEAR(run.statistics().acceptance, 0.574, 0.03) << form << " " << balancing;
    }
  }
}

// Where the whole of nu is accepted too often, tau ends at the largest and stays finite.
TEST(Dlmc, TuningEndsAtTheUpperBound) {
  const IsingLattice target(2, 2, true, 0.01, 0);
  saltus::Run run(target, make_sampler("dlmc", target, {}), RunPlan{.draws = 100, .threads = 1});
  run.start();
  run.go();
  EXPECT_NEAR(*run.sampler().step_size(), 1e4, 1);
  EXPECT_GT(run.statistics().acceptance, 0.9);
}

std::string refusal(const Target& target, const Settings& settings) {
  try {
    make_sampler("dlmc", target, settings);
  } catch (const UsageError& e) {
    return e.what();
  }
  return "";
}

TEST(Dlmc, RefusesInWords) {
  const MiniBatch estimate(Domain::binary(2), 4, 2,
                           [](std::span<const std::uint32_t>, std::span<const double>,
                              std::span<double>) { return 0.; });
  const std::string why = refusal(estimate, {});
  EXPECT_NE(why.find("dlmc needs log p itself, not a mini-batch estimate"), std::string::npos);
  EXPECT_NE(why.find("these samplers run on it: dula"), std::string::npos);
  EXPECT_EQ(refusal(Poisson({1.0}), {}), "");  // the window is 1
  const Potts classes(Domain::categorical(1, 2), {0, 1}, {});
  EXPECT_NE(refusal(classes, {{"window", "1"}}).find("categorical"), std::string::npos);
  EXPECT_NE(refusal(classes, {{"step_size", "0"}}).find("above 0"), std::string::npos);
  EXPECT_NE(refusal(classes, {{"adapt", "false"}}).find("needs a step_size"), std::string::npos);
  EXPECT_NE(refusal(classes, {{"form", "exact"}}).find("heat or euler"), std::string::npos);
}

}  // namespace
}  // namespace saltus
