// The path auxiliary sampler: known kernels, parity, and that the ways to take a step agree.
#include "saltus/sampler/pas.hpp"

#include <gtest/gtest.h>

#include "dlp_helpers.hpp"
#include "flip_helpers.hpp"
#include "saltus/core/error.hpp"
#include "saltus/run/run.hpp"
#include "saltus/target/bernoulli.hpp"
#include "saltus/target/ising_lattice.hpp"
#include "saltus/target/poisson.hpp"
#include "saltus/target/potts.hpp"
#include "saltus/target/rbm.hpp"

namespace saltus {
namespace {

Pas pas(const Target& target, int flips, bool fixed, int window = 0) {
  PasOptions options;
  options.flips = flips;
  options.fixed = fixed;
  options.window = window;
  return Pas(target.domain(), options);
}

TEST(Pas, KnownKernel) {
  const Rbm rbm({.8, -1.2, .5, -.4, .9, 1.5}, {-.2, .4, -.6}, {.1, -.3});
  const StateTable table(rbm);
  const Pas two = pas(rbm, 2, true);
  const Matrix t(two, table);
  const double row[8] = {0, 0, 0, .358047606, 0, .3359892867, .3059631073, 0};
  for (int y = 0; y < 8; ++y) EXPECT_NEAR(t(0, y), row[y], 1e-9) << y;
  EXPECT_NEAR(check_transitions(two, table).acceptance, .83363215, 1e-7);
}

// With one site it is Gibbs with gradients.
TEST(Pas, OfOneSiteIsGwg) {
  const Potts potts(
      Domain::categorical({3, 2, 4}), {.3, -.5, 1.1, .2, -.1, 0, .4, -.6, .2},
      {{0, 1, {.5, -.3, .2, .1, .8, -.6}}, {1, 2, {.3, -.2, .5, .1, -.4, .2, 0, .6}}});
  const StateTable table(potts);
  const Matrix a(pas(potts, 1, false), table), b(*make_sampler("gwg", potts, {}), table);
  for (int x = 0; x < a.size(); ++x) {
    for (int y = 0; y < a.size(); ++y) EXPECT_NEAR(a(x, y), b(x, y), 1e-14);
  }
}

TEST(Pas, KnownAcceptanceOnATorus) {
  const IsingLattice torus(5, 5, true, 0.1, 0.2);
  const double known[][2] = {{1, .954}, {2, .903}, {4, .758}, {6, .596}};
  for (const auto& [flips, acceptance] : known) {
    RunPlan plan;
    plan.chains = 4, plan.warmup = 500, plan.draws = 15000;
    saltus::Run run(torus, std::make_unique<Pas>(pas(torus, static_cast<int>(flips), true)), plan);
    run.start();
    run.go();
    EXPECT_NEAR(run.statistics().acceptance, acceptance, 0.01) << flips;
    EXPECT_EQ(run.statistics().proposed, flips);
  }
}

TEST(Pas, OnlyAFixedEvenNumberKeepsParity) {
  const IsingLattice lattice(2, 2, true, 0.1, 0.2);
  const StateTable table(lattice);
  EXPECT_FALSE(check_transitions(pas(lattice, 2, true), table).irreducible);
  EXPECT_TRUE(check_transitions(pas(lattice, 1, true), table).irreducible);
  EXPECT_TRUE(check_transitions(pas(lattice, 2, false), table).irreducible);
  // The number of sites: uniform on 1, 2, 3; and cut off at the dimension, on 1 ... 4.
  EXPECT_NEAR(Walked(lattice, pas(lattice, 2, false), 4, 10000, 1).proposed, 2,
              5 * std::sqrt(2.0 / 3 / 40000));
  EXPECT_NEAR(Walked(lattice, pas(lattice, 4, false), 4, 10000, 1).proposed, 2.5,
              5 * std::sqrt(1.25 / 40000));
}

TEST(Pas, TakesTheSameStepsInPlace) {
  std::vector<double> unary;
  std::vector<PottsEdge> edges;
  for (int i = 0; i < 1000; ++i) {
    for (int k = 0; k < 3; ++k) unary.push_back(0.3 * ((i * 7 + k * 5) % 4) - 0.4);
    edges.push_back({i, (i + 1) % 1000, {.5, -.3, .2, .1, .8, -.6, 0, .4, .3}});
  }
  const IsingLattice lattice(40, 40, true, 0.15, 0.1);
  const auto sparse = sparse_spins(1600, 6, 1.0);
  const Potts potts(Domain::categorical(1000, 3), unary, edges);
  const Poisson poisson(std::vector<double>(1000, 2.5));
  for (const Target* target :
       std::initializer_list<const Target*>{&lattice, sparse.get(), &potts, &poisson}) {
    const Plain plain(*target);
    for (int flips : {1, 4}) {
      SCOPED_TRACE(target->name() + std::to_string(flips));
      const Pas here = pas(*target, flips, false, target == &poisson ? 2 : 0);
      const Walked a(*target, here, 2, 400, 12), b(plain, here, 2, 400, 12);
      EXPECT_TRUE(here.accumulates_rounding(*target));
      EXPECT_EQ(a.states, b.states);
      EXPECT_NEAR(a.acceptance, b.acceptance, 1e-5);
      // With more than one flip there was something to take back.
      EXPECT_LT(a.accepted, flips > 1 ? 800u : 801u);
      EXPECT_GE(a.evaluations.local, static_cast<std::uint64_t>(std::lround(a.proposed * 800)));
      EXPECT_EQ(b.evaluations.gradient, 800u);
    }
  }
}

TEST(Pas, ValuesKeptInPlaceStayRight) {
  const auto sparse = sparse_spins(700, 6, 1.5);
  const Walked w(*sparse, pas(*sparse, 3, false), 1, 50000, 3, 997);
  EXPECT_LT(w.score_error, 1e-4);
  EXPECT_LT(w.logp_error, 1e-8);
}

// The first site chosen holds all but a part exp(-70) of the weight; what is left must not be a
// difference.
TEST(Pas, ChosenSitesHoldNearlyAllWeight) {
  const Bernoulli steep({140.0, -70.0, 0.6, 0.2});
  const StateTable table(steep);
  for (int flips : {2, 3}) {
    const Pas sampler = pas(steep, flips, true);
    EXPECT_LT(check_transitions(sampler, table).invariance, 1e-12);
    const StepCheck s = check_steps(sampler, steep, table, 4000);
    EXPECT_GT(s.p_value, 1e-5);
    EXPECT_GT(s.degrees, 0);
    EXPECT_EQ(Walked(steep, sampler, 8, 50, 1).nonfinite, 0u);
  }
}

TEST(Pas, TunesFlips) {
  const IsingLattice lattice(20, 20, true, 0.1, 0.2);
  RunPlan plan;
  plan.chains = 4, plan.warmup = 4000, plan.draws = 1000;
  saltus::Run run(lattice, make_sampler("pas", lattice, {}), plan);
  run.start();
  run.go();
  EXPECT_NEAR(run.statistics().acceptance, 0.574, 0.05);
  EXPECT_GT(run.statistics().proposed, 5);
}

TEST(Pas, RefusesWhatMakesNoSense) {
  const IsingLattice lattice(2, 2, true, 0.1, 0.2);
  EXPECT_THROW(make_sampler("pas", lattice, {{"flips", "5"}}), UsageError);
  EXPECT_THROW(make_sampler("pas", lattice, {{"adapt", "false"}}), UsageError);
  EXPECT_NO_THROW(make_sampler("pas", lattice, {{"flips", "4"}, {"fixed", "true"}}));
  EXPECT_NO_THROW(make_sampler("pas", Poisson({2.0}), {}));  // the window is 1
}

}  // namespace
}  // namespace saltus
