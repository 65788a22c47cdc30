// Gibbs with gradients and the locally balanced proposal: known kernels, and that the ways to take
// a step agree.
#include "saltus/sampler/gwg.hpp"

#include <gtest/gtest.h>

#include "dlp_helpers.hpp"
#include "flip_helpers.hpp"
#include "saltus/core/error.hpp"
#include "saltus/run/run.hpp"
#include "saltus/target/bernoulli.hpp"
#include "saltus/target/function.hpp"
#include "saltus/target/ising_lattice.hpp"
#include "saltus/target/mini_batch.hpp"
#include "saltus/target/poisson.hpp"
#include "saltus/target/potts.hpp"
#include "saltus/target/rbm.hpp"

namespace saltus {
namespace {

Gwg gwg(const Target& target, int flips, Balancing balancing = Balancing::sqrt, int window = 0) {
  return Gwg(target.domain(), {flips, false, balancing, window, false});
}
Gwg locally_balanced(const Target& target, Balancing balancing = Balancing::sqrt, int window = 0) {
  return Gwg(target.domain(), {1, false, balancing, window, true});
}

const Rbm& small_rbm() {
  static const Rbm rbm({.8, -1.2, .5, -.4, .9, 1.5}, {-.2, .4, -.6}, {.1, -.3});
  return rbm;
}

void expect_first_row(const Sampler& sampler, double acceptance, const std::vector<double>& row) {
  const StateTable table(small_rbm());
  const Matrix t(sampler, table);
  for (int y = 0; y < 8; ++y) EXPECT_NEAR(t(0, y), row[static_cast<std::size_t>(y)], 1e-9) << y;
  EXPECT_NEAR(check_transitions(sampler, table).acceptance, acceptance, 1e-7);
}

TEST(Gwg, KnownKernels) {
  expect_first_row(gwg(small_rbm(), 1), .92312446,
                   {0, .3557716276, .3304282285, 0, .3138001439, 0, 0, 0});
  expect_first_row(gwg(small_rbm(), 2), .85944724,
                   {.0461623837, .0955335762, .0940603053, .2351139773, .0984705303, .2232823759,
                    .2073768513, 0});
  expect_first_row(gwg(small_rbm(), 3), .78349700,
                   {.0476694077, .0218528152, .0233125271, .2420027661, .0309000666, .2242553639,
                    .1886706536, .2213363997});
  expect_first_row(locally_balanced(small_rbm()), .92020480,
                   {0, .3687671899, .3377114904, 0, .2935213197, 0, 0, 0});
}

// Without a diagonal the score's promise is the exact difference.
TEST(Gwg, IsLocallyBalancedOnIsingModels) {
  const IsingLattice lattice(2, 3, true, 0.15, 0.2);
  const StateTable table(lattice);
  for (Balancing g : {Balancing::sqrt, Balancing::ratio, Balancing::min, Balancing::max}) {
    const Matrix a(gwg(lattice, 1, g), table), b(locally_balanced(lattice, g), table);
    for (int x = 0; x < a.size(); ++x) {
      for (int y = 0; y < a.size(); ++y) EXPECT_NEAR(a(x, y), b(x, y), 1e-12);
    }
  }
}

// The mean acceptance of 60,000 correlated steps has a standard error below 0.002.
TEST(Gwg, KnownAcceptanceOnATorus) {
  const IsingLattice torus(5, 5, true, 0.1, 0.2);
  const Plain plain(torus);
  const double known[][2] = {{1, .954}, {4, .657}, {6, .494}};
  for (const auto& [flips, acceptance] : known) {
    RunPlan plan;
    plan.chains = 4, plan.warmup = 500, plan.draws = 15000;
    for (const Target* target : std::initializer_list<const Target*>{&torus, &plain}) {
      saltus::Run run(*target, std::make_unique<Gwg>(gwg(*target, static_cast<int>(flips))), plan);
      run.start();
      run.go();
      EXPECT_NEAR(run.statistics().acceptance, acceptance, 0.01) << flips;
    }
  }
}

struct Case {
  std::string name;
  std::shared_ptr<const Target> target;
  int window = 0;
};

// Large enough that a move touches a small part of the sites.
std::vector<Case> large_cases() {
  std::vector<double> unary, rates;
  std::vector<PottsEdge> edges;
  std::vector<Coupling> couplings;
  for (int i = 0; i < 400; ++i) {
    for (int k = 0; k < 3; ++k) unary.push_back(0.3 * ((i * 7 + k * 5) % 4) - 0.4);
    edges.push_back({i, (i + 1) % 400, {.5, -.3, .2, .1, .8, -.6, 0, .4, .3}});
    // Twice the same pair: neighbours may repeat.
    if (i % 10 == 0) edges.push_back({i, (i + 1) % 400, {.1, 0, 0, 0, .1, 0, 0, 0, .1}});
    couplings.push_back({i, (i + 1) % 400, 0.1});
    couplings.push_back({i, i, -0.1});
    rates.push_back(0.5 + i % 5);
  }
  return {
      {"lattice", std::make_shared<IsingLattice>(20, 20, true, 0.15, 0.1)},
      {"sparse", sparse_spins(400, 6, 1.0)},
      {"dense", std::make_shared<Quadratic>(
                    "dense", Domain::spin(40), std::vector<Coupling>{{0, 1, 0.4}, {5, 9, -0.3}},
                    std::vector<double>(40, 0.2), Quadratic::Storage::dense)},
      {"bernoulli", std::make_shared<Bernoulli>(std::vector<double>(100, 0.7))},
      {"potts", std::make_shared<Potts>(Domain::categorical(400, 3), unary, edges)},
      {"ordered", std::make_shared<Quadratic>("q", Domain::ordered(400, 5), couplings,
                                              std::vector<double>(400, 0.3))},
      {"ordered",
       std::make_shared<Quadratic>("q", Domain::ordered(400, 5), couplings,
                                   std::vector<double>(400, 0.3)),
       1},
      {"poisson", std::make_shared<Poisson>(rates), 2},
  };
}

// Moving in place takes the same steps as evaluating every proposal, while no random number falls
// so close to the edge between two sites that the scores' rounding decides.
TEST(Gwg, TakesTheSameStepsInPlace) {
  for (const Case& c : large_cases()) {
    const Plain plain(*c.target);
    for (int flips : {1, 3}) {
      SCOPED_TRACE(c.name + ", flips " + std::to_string(flips));
      const Gwg here = gwg(*c.target, flips, Balancing::sqrt, c.window);
      const Walked a(*c.target, here, 2, 400, 12), b(plain, here, 2, 400, 12);
      EXPECT_TRUE(here.accumulates_rounding(*c.target));
      EXPECT_FALSE(here.accumulates_rounding(plain));
      EXPECT_EQ(a.states, b.states);
      EXPECT_NEAR(a.acceptance, b.acceptance, 1e-5);
      // With more than one flip there was something to take back.
      EXPECT_LT(a.accepted, flips > 1 ? 800u : 801u);
      // A difference for every change, and the scores around it.
      EXPECT_GE(a.evaluations.local, static_cast<std::uint64_t>(std::lround(a.proposed * 800)));
      EXPECT_EQ(b.evaluations.local, 0u);
      EXPECT_EQ(b.evaluations.logp, 800u);
      EXPECT_EQ(b.evaluations.gradient, 800u);
    }
  }
}

TEST(LocallyBalanced, TakesTheSameStepsInPlace) {
  std::vector<Case> cases = large_cases();
  std::vector<double> weights;
  for (int k = 0; k < 30 * 8; ++k) weights.push_back(0.8 * std::sin(1.0 + 3 * k));
  cases.push_back({"rbm", std::make_shared<Rbm>(weights, std::vector<double>(30, 0.1),
                                                std::vector<double>(8, -0.2))});
  for (const Case& c : cases) {
    const Plain plain(*c.target);
    for (Balancing g : {Balancing::sqrt, Balancing::min}) {
      SCOPED_TRACE(c.name + " " + std::to_string(static_cast<int>(g)));
      const Gwg here = locally_balanced(*c.target, g, c.window);
      const Walked a(*c.target, here, 2, 60, 12), b(plain, here, 2, 60, 12);
      EXPECT_EQ(a.states, b.states);
      EXPECT_NEAR(a.acceptance, b.acceptance, 1e-5);
      EXPECT_GT(a.evaluations.local, 0u);
      EXPECT_EQ(b.evaluations.local, 0u);
    }
  }
}

TEST(Gwg, ValuesKeptInPlaceStayRight) {
  const auto sparse = sparse_spins(700, 6, 1.5);
  for (int flips : {1, 4}) {
    // Coprime to the period of fresh evaluations, so that every age is looked at.
    const Walked w(*sparse, gwg(*sparse, flips), 1, 100000, 3, 997);
    EXPECT_LT(w.score_error, 1e-4);
    EXPECT_LT(w.logp_error, 1e-8);
    EXPECT_LT(w.acceptance, 0.999);
    EXPECT_GT(w.acceptance, 0.5);
  }
  const Walked w(*sparse, locally_balanced(*sparse), 1, 20000, 3, 997);
  EXPECT_LT(w.logp_error, 1e-8);
}

// What a step of a sparse model costs does not depend on its size: for the locally balanced
// proposal one difference for the move, five for the site and its neighbours, one as its share of
// the fresh start every dim steps.
TEST(Gwg, CostOfAStepDoesNotGrowWithTheModel) {
  for (int side : {30, 100}) {
    const IsingLattice lattice(side, side, true, 0.1, 0.2);
    const std::uint64_t steps = 3 * static_cast<std::uint64_t>(side * side);
    const Walked balanced(lattice, locally_balanced(lattice), 1, steps, 1);
    const auto local = static_cast<double>(balanced.evaluations.local);
    EXPECT_NEAR(local / static_cast<double>(steps), 7.33, 0.01) << side;  // and one to start with
    EXPECT_EQ(balanced.evaluations.gradient, 0u);
    EXPECT_EQ(balanced.evaluations.logp, 3u);
    const Walked one(lattice, gwg(lattice, 1), 1, steps, 1);
    EXPECT_EQ(one.evaluations.local, 5 * steps);  // the site and its four neighbours
    EXPECT_EQ(one.evaluations.gradient, 3u);
  }
}

TEST(LocallyBalanced, NeedsNoScoreThatItDoesNotUse) {
  const IsingLattice lattice(3, 3, true, 0.1, 0.2);
  EXPECT_FALSE(locally_balanced(lattice).needs(lattice).score);
  EXPECT_FALSE(locally_balanced(lattice).needs(lattice).target_cache);
  EXPECT_TRUE(gwg(lattice, 1).needs(lattice).score);
  const auto dense = make_ising(4, {{0, 1, 0.6}}, {}, Quadratic::Storage::dense);
  EXPECT_TRUE(locally_balanced(*dense).needs(*dense).score);
  EXPECT_TRUE(locally_balanced(small_rbm()).needs(small_rbm()).target_cache);
  EXPECT_FALSE(locally_balanced(small_rbm()).needs(small_rbm()).score);
  EXPECT_TRUE(gwg(small_rbm(), 1).needs(small_rbm()).target_cache);  // for evaluating near by
}

// One sampler after the other on the same chains: each must find or make what it needs.
TEST(Gwg, TakesOverFromOtherSamplers) {
  const Rbm& rbm = small_rbm();
  const StateTable table(rbm);
  struct Count final : StepObserver {
    explicit Count(const StateTable& t) : table(t), counts(t.size()) {}
    bool wants_logp(std::uint64_t) const override { return false; }
    void after_step(const Tile& tile, std::span<const StepInfo>, std::uint64_t) override {
      for (int r = 0; r < tile.rows(); ++r) ++counts[table.index(tile.x[r])];
    }
    const StateTable& table;
    std::vector<double> counts;
  } count(table);
  Ensemble ensemble(rbm, 100, 0, 1, 4);
  ensemble.start_random();
  ensemble.evaluate();
  const int rounds = 600;
  for (int k = 0; k < rounds; ++k) {
    ensemble.advance(gwg(rbm, 2), 1, count);
    ensemble.advance(locally_balanced(rbm), 1, count);
  }
  // Chains forget within some ten steps; a tenth of the draws counts as independent.
  const double n = 200.0 * rounds;
  for (std::size_t s = 0; s < table.size(); ++s) {
    const double p = table.probability()[s];
    EXPECT_NEAR(count.counts[s] / n, p, 5 * std::sqrt(10 * p / n)) << s;
  }
}

TEST(Gwg, GoesOnExactlyAfterARestore) {
  const auto sparse = sparse_spins(300, 6, 1.0);
  for (bool exact : {false, true}) {
    const auto make = [&] {
      return std::make_unique<Gwg>(sparse->domain(),
                                   GwgOptions{exact ? 1 : 3, false, Balancing::sqrt, 0, exact});
    };
    RunPlan plan;
    plan.chains = 3, plan.warmup = 0, plan.draws = 700, plan.threads = 1;
    saltus::Run whole(*sparse, make(), plan);
    whole.start();
    whole.go();
    RunPlan half = plan;
    half.draws = 333;
    saltus::Run first(*sparse, make(), half);
    first.start();
    first.go();
    ByteWriter out;
    first.save(out);
    saltus::Run second(*sparse, make(), plan);
    ByteReader in(out.bytes());
    second.restore(in);
    second.go();
    for (int c = 0; c < plan.chains; ++c) {
      EXPECT_TRUE(std::equal(whole.state(c), whole.state(c) + 300, second.state(c)));
    }
    EXPECT_EQ(whole.statistics().acceptance, second.statistics().acceptance);
  }
}

// States that cannot be, next to ones that can.
TEST(Gwg, ForbiddenStates) {
  const Function forbidden(Domain::ordered({3, 2, 2}),
                           [](std::span<const double> v, std::span<double> g) {
                             for (double& e : g) e = 0.3;
                             return v[0] + v[1] + v[2] == 3 ? -INFINITY : 0.3 * v[0] - 0.2 * v[2];
                           });
  const StateTable table(forbidden);
  for (Balancing g : {Balancing::sqrt, Balancing::ratio, Balancing::min, Balancing::max}) {
    for (const Gwg& sampler :
         {gwg(forbidden, 1, g), gwg(forbidden, 2, g), locally_balanced(forbidden, g)}) {
      SCOPED_TRACE(sampler.name() + std::to_string(static_cast<int>(g)));
      const Conformance c = check_transitions(sampler, table);
      EXPECT_LT(c.rows, 1e-12);
      EXPECT_LT(c.invariance, 1e-12);
      const StepCheck s = check_steps(sampler, forbidden, table, 3000);
      EXPECT_GT(s.p_value, 1e-5);
      EXPECT_FALSE(s.impossible);
    }
  }
}

// Differences of hundreds: every log stays finite.
TEST(Gwg, LargeDifferences) {
  const auto strong = make_ising(3, {{0, 1, 400}, {1, 2, -300}}, {100, 0, 1});
  const Plain plain(*strong);
  const StateTable table(*strong);
  for (const Target* target : std::initializer_list<const Target*>{strong.get(), &plain}) {
    for (const Gwg& sampler : {gwg(*target, 1), gwg(*target, 2), locally_balanced(*target)}) {
      EXPECT_LT(check_transitions(sampler, table).invariance, 1e-12);
      EXPECT_GT(check_steps(sampler, *target, table, 3000).p_value, 1e-5);
      EXPECT_EQ(Walked(*target, sampler, 4, 300, 1).nonfinite, 0u);
    }
  }
}

TEST(Gwg, TunesFlips) {
  const IsingLattice lattice(20, 20, true, 0.1, 0.2);
  RunPlan plan;
  plan.chains = 4, plan.warmup = 4000, plan.draws = 1000;
  saltus::Run run(lattice, make_sampler("gwg", lattice, {{"adapt", "true"}}), plan);
  run.start();
  run.go();
  EXPECT_NEAR(run.statistics().acceptance, 0.574, 0.05);
  EXPECT_GT(run.statistics().proposed, 5);
}

TEST(Gwg, RefusesWhatMakesNoSense) {
  const Poisson counts({2.0});
  EXPECT_NO_THROW(make_sampler("gwg", counts, {}));  // the window is 1
  EXPECT_NO_THROW(make_sampler("locally_balanced", counts, {}));
  EXPECT_NO_THROW(make_sampler("gwg", counts, {{"window", "1"}}));
  const IsingLattice lattice(2, 2, true, 0.1, 0.2);
  EXPECT_THROW(make_sampler("gwg", lattice, {{"flips", "0"}}), UsageError);
  EXPECT_THROW(make_sampler("gwg", lattice, {{"balancing", "cube"}}), UsageError);
  EXPECT_THROW(make_sampler("locally_balanced", lattice, {{"flips", "1"}}), UsageError);
  const Potts potts(Domain::categorical(2, 3), std::vector<double>(6), {});
  EXPECT_THROW(make_sampler("gwg", potts, {{"window", "1"}}), UsageError);
  const MiniBatch estimate(Domain::binary(2), 10, 3, [](auto, auto, auto) { return 0.0; });
  for (const char* name : {"gwg", "locally_balanced", "pas"}) {
    EXPECT_THROW(make_sampler(name, estimate, {}), UsageError) << name;
  }
}

}  // namespace
}  // namespace saltus
