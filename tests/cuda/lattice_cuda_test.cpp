// Ising lattices on a GPU against the host: the same draws, exact laws, resuming.
#include <cmath>
#include <iostream>
#include <ostream>

#include "cuda_fixture.hpp"
#include "resume.hpp"
#include "saltus/anneal/annealing.hpp"
#include "saltus/cuda/models.hpp"
#include "saltus/diagnose/conformance.hpp"
#include "saltus/diagnose/exact.hpp"
#include "saltus/run/ensemble.hpp"
#include "saltus/sampler/registry.hpp"
#include "saltus/target/ising_lattice.hpp"

namespace saltus {
namespace {

using CudaLattice = CudaFixture;

struct Watch final : StepObserver {
  explicit Watch(int chains)
      : states(static_cast<std::size_t>(chains)), info(states.size()), logp(states.size()) {}
  std::vector<std::vector<Symbol>> states;  // by chain, as the others
  std::vector<std::vector<StepInfo>> info;
  std::vector<std::vector<double>> logp;
  bool wants_logp(std::uint64_t) const override { return true; }
  void after_step(const Tile& tile, std::span<const StepInfo> of, std::uint64_t) override {
    for (int r = 0; r < tile.rows(); ++r) {
      const std::size_t chain = tile.first_slot + static_cast<std::uint32_t>(r);
      states[chain].insert(states[chain].end(), tile.x[r], tile.x[r] + tile.x.cols);
      logp[chain].push_back(tile.logp[r]);
      info[chain].push_back(of[static_cast<std::size_t>(r)]);
    }
  }
};

struct Case {
  int rows, cols;
  bool periodic;
  double a, b, step_size;

  IsingLattice target() const { return IsingLattice(rows, cols, periodic, a, b); }
  std::string text() const {
    return std::to_string(rows) + " x " + std::to_string(cols) + (periodic ? ", periodic" : "") +
           (b != 0 ? ", with a field" : "");
  }
  std::string name() const {
    return std::to_string(rows) + "x" + std::to_string(cols) + (periodic ? "Periodic" : "Open") +
           (b != 0 ? "WithField" : "");
  }
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.text();
}

// The numbers of words: 1; 3; 8, the last one not whole; 9; 313; 128; 512, 2048 in rows of whole
// words (two blocks to a chain); 813; 704; 352, in rows of whole words.
const std::vector<Case> kCases = {
    {5, 5, true, 0.1, 0.2, 0.4},      {4, 8, false, 0.2, 0, 0.4},
    {2, 3, true, 0.2, 0.1, 0.5},      {1, 32, true, 0.2, 0, 0.4},
    {7, 13, true, 0.15, 0.1, 0.3},    {7, 13, false, 0.15, 0, 0.3},
    {6, 50, true, 0.2, 0, 0.2},       {3, 96, true, 0.1, -0.2, 0.25},
    {1, 300, false, 0.3, 0.1, 0.4},   {100, 100, true, 0.1, 0, 0.15},
    {100, 100, false, 0.1, 0.1, .15}, {5, 9, true, 0.5, 0.3, 3},
    {64, 64, true, 0.1, 0.05, 0.18},  {128, 128, true, 0.1, 0, 0.13},
    {256, 256, true, 0.1, 0.1, 0.1},  {200, 130, true, 0.1, 0, 0.12},
    {150, 150, false, 0.1, 0.1, .12}, {44, 256, true, 0.1, 0.1, 0.13},
};

class CudaLatticeDraws : public CudaFixture, public testing::WithParamInterface<Case> {};

// Step by step: states, log p, and what a step did.
TEST_P(CudaLatticeDraws, AreThoseOfTheHost) {
  const Case& c = GetParam();
  constexpr int kChains = 3;
  const int steps = c.rows * c.cols > 2000 ? 40 : 200;
  const IsingLattice here = c.target();
  const auto there = cuda::on_device(here);
  const auto base = std::make_shared<const Independent>(Independent::uniform(here.domain()));
  for (const std::string name : {"dmala", "dula", "gibbs"}) {
    if (name == "gibbs" && here.groups() == 0) continue;  // an odd ring has no two colours
    for (const double beta : {1.0, 0.6}) {
      SCOPED_TRACE(name + " at beta " + std::to_string(beta));
      std::vector<Watch> watched;
      for (const Target* target : std::initializer_list<const Target*>{&here, there.get()}) {
        Ensemble ensemble({{target, kChains, base, beta}}, {21, 1, 0, 5});
        ensemble.start_random();
        ensemble.evaluate();
        Watch& watch = watched.emplace_back(kChains);
        const auto sampler = make_sampler(
            name, *target,
            name == "gibbs" ? Settings{} : Settings{{"step_size", std::to_string(c.step_size)}});
        ensemble.advance(*sampler, static_cast<std::uint64_t>(steps), watch);
      }
      const Watch &expected = watched[0], &found = watched[1];
      double accepted = 0;
      for (std::size_t n = 0; n < kChains * static_cast<std::size_t>(steps); ++n) {
        const std::size_t chain = n % kChains, step = n / kChains;
        SCOPED_TRACE("step " + std::to_string(step));
        const StepInfo &there_done = found.info[chain][step], &done = expected.info[chain][step];
        ASSERT_EQ(there_done.accepted, done.accepted);
        ASSERT_EQ(there_done.proposed, done.proposed);
        ASSERT_EQ(there_done.changed, done.changed);
        ASSERT_NEAR(there_done.acceptance, done.acceptance, 1e-4);
        ASSERT_NEAR(found.logp[chain][step], expected.logp[chain][step],
                    1e-9 * here.domain().dim());
        accepted += done.accepted;
      }
      EXPECT_EQ(found.states, expected.states);
      std::cout << c.text() << ", " << name << " at beta " << beta << ": accepted "
                << accepted / (steps * kChains) << "\n";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, CudaLatticeDraws, testing::ValuesIn(kCases),
                         [](const auto& of) { return of.param.name(); });

// So many chains of a small lattice that each has a thread; the last warp is not full.
TEST_F(CudaLattice, MakesTheDrawsOfTheHostInManyChains) {
  for (const Case& c : {kCases[0], kCases[1], Case{3, 4, true, 0.2, 0, 0.6}}) {
    for (const std::string name : {"dmala", "dula"}) {
      SCOPED_TRACE(c.text() + " " + name);
      const IsingLattice here = c.target();
      const auto there = cuda::on_device(here);
      std::vector<Watch> watched;
      for (const Target* target : std::initializer_list<const Target*>{&here, there.get()}) {
        Ensemble ensemble(*target, 4500, 0, 1, 21);
        ensemble.start_random();
        ensemble.evaluate();
        Watch& watch = watched.emplace_back(4500);
        ensemble.advance(*make_sampler(name, *target, {{"step_size", std::to_string(c.step_size)}}),
                         40, watch);
      }
      EXPECT_EQ(watched[1].states, watched[0].states);
      for (std::size_t chain = 0; chain < 4500; ++chain) {
        for (std::size_t step = 0; step < 40; ++step) {
          const StepInfo &a = watched[0].info[chain][step], &b = watched[1].info[chain][step];
          ASSERT_EQ(b.accepted, a.accepted);
          ASSERT_EQ(b.changed, a.changed);
          ASSERT_NEAR(b.acceptance, a.acceptance, 1e-4);
          ASSERT_NEAR(watched[1].logp[chain][step], watched[0].logp[chain][step], 1e-9);
        }
      }
    }
  }
}

TEST_F(CudaLattice, EnergyIsThatOfTheHost) {
  std::vector<Case> cases = kCases;
  cases.push_back({256, 257, true, 0.1, 0, 0.1});  // more sites than there is a kernel for
  for (const Case& c : cases) {
    SCOPED_TRACE(c.text());
    const IsingLattice here = c.target();
    const auto there = cuda::on_device(here);
    const int dim = here.domain().dim();
    RowBuffer<Symbol> x(3, dim);
    for (int r = 0; r < 3; ++r) {
      const Stream stream(8, static_cast<std::uint32_t>(r), 0, Purpose::check);
      for (int i = 0; i < dim; ++i) x.view()[r][i] = stream.word(static_cast<std::uint32_t>(i)) & 1;
    }
    RowBuffer<float> score[2] = {RowBuffer<float>(3, dim), RowBuffer<float>(3, dim)};
    std::vector<double> logp[2] = {std::vector<double>(3), std::vector<double>(3)};
    Scratch scratch;
    here.evaluate({0, 0, scratch}, x.view(), logp[0].data(), score[0].view());
    there->evaluate({0, 0, scratch}, x.view(), logp[1].data(), score[1].view());
    EXPECT_EQ(logp[1], logp[0]);
    for (int r = 0; r < 3; ++r) {
      EXPECT_TRUE(std::equal(score[0].view()[r], score[0].view()[r] + dim, score[1].view()[r]));
    }
  }
}

const std::vector<std::pair<std::string, Settings>> kSamplers = {
    {"dmala", {{"step_size", "0.5"}}},
    {"dmala", {{"step_size", "inf"}}},
    {"dula", {{"step_size", "0.3"}}},
    {"gwg", {}},
    {"gibbs", {}},
    {"gibbs", {{"scan", "random"}, {"updates", "1"}}},
};

TEST_F(CudaLattice, FollowsTheTransitionMatrix) {
  for (const Case& c : {Case{2, 3, true, 0.2, 0.1, 0}, Case{2, 3, false, 0.3, 0, 0}}) {
    const IsingLattice lattice = c.target();
    const auto target = cuda::on_device(lattice);
    const StateTable table(lattice);
    for (const auto& [name, settings] : kSamplers) {
      SCOPED_TRACE(c.text() + " " + name);
      const auto sampler = make_sampler(name, *target, settings);
      EXPECT_TRUE(target->on_device()->make_chains(1, 1)->serves(*sampler, nullptr));
      const StepCheck s = check_steps(*sampler, *target, table, 20000);
      EXPECT_GT(s.p_value, 1e-5) << "chi-square " << s.chi_square << " on " << s.degrees;
      EXPECT_FALSE(s.impossible);
      EXPECT_GT(s.degrees, 0);
    }
  }
}

struct Nobody final : StepObserver {
  bool wants_logp(std::uint64_t) const override { return false; }
  bool wants_states(std::uint64_t) const override { return false; }
  bool takes_sums() const override { return true; }
  void after_step(const Tile&, std::span<const StepInfo>, std::uint64_t) override {}
};

// Independent chains after many steps are draws of the model: mean and variance of log p.
TEST_F(CudaLattice, LeadsToTheModelAtEveryBeta) {
  constexpr int kChains = 20000;
  const IsingLattice lattice(3, 4, true, 0.15, 0.1);
  const auto target = cuda::on_device(lattice);
  const auto base = std::make_shared<const Independent>(Independent::uniform(lattice.domain()));
  Tempered law(lattice, base);
  Scratch scratch;
  for (const double beta : {0.5, 1.0}) {
    law.set_beta(beta);
    const StateTable table(law);
    double mean = 0, square = 0;
    for (std::size_t s = 0; s < table.size(); ++s) {
      double logp = 0;
      const int dim = lattice.domain().dim();
      RowBuffer<Symbol> x(1, dim);
      std::copy_n(table.state(s), dim, x.view()[0]);
      lattice.evaluate({0, 0, scratch}, x.view(), &logp, {});
      mean += table.probability()[s] * logp, square += table.probability()[s] * logp * logp;
    }
    const double deviation = std::sqrt(square - mean * mean);
    Ensemble ensemble({{target.get(), kChains, base, beta}}, {4, 1});
    ensemble.start_random();
    ensemble.evaluate();
    Nobody nobody;
    ensemble.advance(*make_sampler("dmala", *target, {{"step_size", "0.5"}}), 301, nobody);
    double found = 0;
    for (int chain = 0; chain < kChains; ++chain) {
      double logp = 0;
      RowBuffer<Symbol> x(1, lattice.domain().dim());
      std::copy_n(ensemble.state(chain), lattice.domain().dim(), x.view()[0]);
      lattice.evaluate({0, 0, scratch}, x.view(), &logp, {});
      found += logp / kChains;
    }
    std::cout << "mean log p at beta " << beta << ": " << found << ", exactly " << mean << "\n";
    EXPECT_NEAR(found, mean, 4.5 * deviation / std::sqrt(double{kChains}));
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

TEST_F(CudaLattice, ResumesWithTheSameDraws) {
  for (const Case& c : {Case{5, 5, true, 0.15, 0.1, 0}, Case{20, 20, false, 0.1, 0, 0},
                        Case{128, 128, true, 0.1, 0, 0}}) {
    const IsingLattice here = c.target();
    const auto there = cuda::on_device(here);
    for (const auto& [name, settings] : {std::pair<std::string, Settings>{"dmala", {}},
                                         {"dmala", {{"step_size", "0.13"}}},
                                         {"dula", {{"step_size", "0.2"}}},
                                         {"gibbs", {{"scan", "colours"}}}}) {
      if (name == "gibbs" && here.groups() == 0) continue;
      SCOPED_TRACE(c.text() + " " + name + (settings.empty() ? " tuned" : ""));
      const KeepDraws whole = draws_of_one_run(*there, name, settings, small_plan());
      const KeepDraws parts = draws_of_interrupted_runs(*there, name, settings, small_plan());
      EXPECT_EQ(parts.states, whole.states);
      EXPECT_EQ(parts.logp, whole.logp);
      if (settings.empty()) continue;
      const KeepDraws expected = draws_of_one_run(here, name, settings, small_plan());
      EXPECT_EQ(whole.states, expected.states);
      EXPECT_EQ(whole.logp, expected.logp);
    }
  }
}

// The same weights as on the host: the moves of beta are made here, the steps on the GPU.
TEST_F(CudaLattice, AnnealsAsTheHost) {
  for (const Case& c : {Case{4, 6, true, 0.2, 0.1, 0}, Case{20, 20, true, 0.1, 0, 0},
                        Case{15, 15, false, 0.1, 0.1, 0}}) {
    const IsingLattice here = c.target();
    const auto there = cuda::on_device(here);
    const Independent base = Independent::uniform(here.domain());
    AnnealingPlan plan;
    plan.betas = linear_betas(50);
    plan.steps_per_beta = 2;
    plan.chains = 30;
    for (const auto& [name, settings] :
         {std::pair<std::string, Settings>{"dmala", {{"step_size", "0.3"}}}, {"gibbs", {}}}) {
      SCOPED_TRACE(c.text() + " " + name);
      std::vector<double> weights[2];
      double acceptance[2];
      for (const int device : {0, 1}) {
        const Tempered path(device ? *there : static_cast<const Target&>(here), base);
        const auto sampler = make_sampler(name, path, settings);
        Annealing annealing(path, *sampler, plan, Annealing::Direction::forward);
        annealing.start();
        ASSERT_TRUE(annealing.go());
        weights[device].assign(annealing.log_weights().begin(), annealing.log_weights().end());
        acceptance[device] = annealing.acceptance();
      }
      for (std::size_t k = 0; k < weights[0].size(); ++k) {
        EXPECT_NEAR(weights[1][k], weights[0][k], 1e-8) << "chain " << k;
      }
      EXPECT_NEAR(acceptance[1], acceptance[0], 1e-5);
    }
  }
}

// What a run says of itself is added up on the GPU.
TEST_F(CudaLattice, HasTheStatisticsOfTheHost) {
  const IsingLattice here(20, 20, true, 0.1, 0.05);
  const auto there = cuda::on_device(here);
  RunPlan plan = small_plan();
  plan.thin = 50;
  RunStatistics of[2];
  for (const int device : {0, 1}) {
    const Target& target = device ? *there : static_cast<const Target&>(here);
    saltus::Run run(target, make_sampler("dmala", target, {{"step_size", "0.3"}}), plan);
    run.start();
    EXPECT_TRUE(run.go());
    of[device] = run.statistics();
  }
  EXPECT_NEAR(of[1].acceptance, of[0].acceptance, 1e-5);
  EXPECT_EQ(of[1].accepted, of[0].accepted);
  EXPECT_EQ(of[1].proposed, of[0].proposed);
  EXPECT_EQ(of[1].changed, of[0].changed);
  EXPECT_EQ(of[1].empty, of[0].empty);
  EXPECT_EQ(of[1].moved, of[0].moved);
  EXPECT_EQ(of[1].steps, of[0].steps);
}

// One round of many steps, many rounds of few, and samplers without a kernel in between.
TEST_F(CudaLattice, DoesNotDependOnTheRounds) {
  const IsingLattice here(30, 30, true, 0.1, 0.05);
  const auto there = cuda::on_device(here);
  std::vector<std::vector<std::vector<Symbol>>> states;
  for (const int way : {0, 1, 2}) {  // on the GPU at once and in pieces; on the host
    const Target& target = way == 2 ? static_cast<const Target&>(here) : *there;
    const auto dmala = make_sampler("dmala", target, {{"step_size", "0.25"}});
    const auto gwg = make_sampler("gwg", target, {});
    Ensemble ensemble(target, 64, 0, 1, 77);
    ensemble.start_random();
    ensemble.evaluate();
    Watch watch(64);
    for (const Sampler* sampler : {dmala.get(), gwg.get(), dmala.get()}) {
      const std::uint64_t steps = sampler == gwg.get() ? 11 : 330, piece = way == 1 ? 11 : steps;
      for (std::uint64_t done = 0; done < steps; done += piece) {
        ensemble.advance(*sampler, piece, watch);
      }
    }
    states.push_back(std::move(watch.states));
  }
  EXPECT_EQ(states[1], states[0]);
  EXPECT_EQ(states[2], states[0]);
}

}  // namespace
}  // namespace saltus
