// Groups of chains: each with its own target, sampler and inverse temperature.
#include <gtest/gtest.h>

#include <cmath>

#include "saltus/core/error.hpp"
#include "saltus/diagnose/exact.hpp"
#include "saltus/run/ensemble.hpp"
#include "saltus/sampler/registry.hpp"
#include "saltus/target/ising_lattice.hpp"
#include "saltus/target/rbm.hpp"

namespace saltus {
namespace {

// The mean of the first coordinate's level over steps and chains, of each place.
class FirstLevels final : public StepObserver {
 public:
  explicit FirstLevels(int chains) : sums(static_cast<std::size_t>(chains)) {}
  bool wants_logp(std::uint64_t) const override { return true; }
  void after_step(const Tile& tile, std::span<const StepInfo>, std::uint64_t) override {
    for (int r = 0; r < tile.rows(); ++r) {
      sums[tile.first_slot + static_cast<std::size_t>(r)] += tile.x[r][0];
    }
  }
  std::vector<double> sums;
};

double exact_mean_of_first(const Target& target) {
  const StateTable table(target);
  double sum = 0, z = 0;
  for (std::size_t s = 0; s < table.size(); ++s) {
    const double p = std::exp(table.logp(s));
    z += p;
    sum += p * table.state(s)[0];
  }
  return sum / z;
}

// Means of many chains, so that the standard error follows from their spread.
void expect_mean(std::span<const double> sums, std::uint64_t steps, double exact) {
  double mean = 0, square = 0;
  const auto n = static_cast<double>(sums.size());
  for (const double s : sums) {
    const double m = s / static_cast<double>(steps);
    mean += m / n;
    square += m * m / n;
  }
  const double error = std::sqrt((square - mean * mean) / (n - 1));
  EXPECT_NEAR(mean, exact, 4.5 * error);
  EXPECT_LT(error, 0.02);
}

TEST(Groups, EachSampleTheirOwnLaw) {
  const Rbm rbm({1.8, -2.2, .5, -.4, .9, 2.5}, {-.9, .4, -.6}, {.1, -.3});
  const auto base = std::make_shared<const Independent>(
      Independent::bernoulli(rbm.domain(), std::vector<double>{0.8, 0.3, 0.5}));
  constexpr int kChains = 40;
  constexpr std::uint64_t kSteps = 1000;
  const double betas[] = {0, 0.3, 1};
  const char* names[] = {"gwg", "block_gibbs", "dmala"};
  for (const bool swapped : {false, true}) {
    std::vector<ChainGroup> groups;
    std::vector<std::unique_ptr<Sampler>> samplers;
    std::vector<const Sampler*> each;
    std::vector<double> exact;
    for (int g = 0; g < 3; ++g) {
      groups.push_back({&rbm, kChains, base, betas[g]});
      Tempered law(rbm, base);
      samplers.push_back(
          make_sampler(names[g], law, g == 2 ? Settings{{"step_size", "0.3"}} : Settings{}));
      each.push_back(samplers.back().get());
      law.set_beta(betas[swapped ? 2 - g : g]);
      exact.push_back(exact_mean_of_first(law));
    }
    Ensemble ensemble(groups, {7, 2, 16});
    ensemble.start_random();
    ensemble.evaluate();
    FirstLevels first(3 * kChains);
    if (swapped) {  // after some steps elsewhere
      ensemble.advance(each, 20, first);
      for (int g = 0; g < 3; ++g) ensemble.set_beta(g, betas[2 - g]);
    }
    ensemble.advance(each, 100, first);
    std::fill(first.sums.begin(), first.sums.end(), 0.0);
    ensemble.advance(each, kSteps, first);
    EXPECT_EQ(ensemble.step(), (swapped ? 20u : 0u) + 100 + kSteps);
    for (std::size_t g = 0; g < 3; ++g) {
      SCOPED_TRACE(names[g]);
      expect_mean(std::span(first.sums).subspan(g * kChains, kChains), kSteps, exact[g]);
    }
  }
}

TEST(Groups, WithoutABaseStayAtTheModel) {
  const IsingLattice lattice(3, 3, true, 0.1, 0.2);
  Ensemble ensemble(lattice, 4, 0, 1, 1);
  EXPECT_EQ(ensemble.beta(0), 1);
  EXPECT_THROW(ensemble.set_beta(0, 0.5), UsageError);
  EXPECT_THROW(ensemble.start_from_base(), UsageError);
  const IsingLattice larger(4, 3, true, 0.1, 0.2);
  EXPECT_THROW(Ensemble({{&lattice, 2}, {&larger, 2}}, {}), UsageError);
}

// A stopped group continues with the same bits at any beta.
TEST(Groups, ResumeWithTheSameBits) {
  const IsingLattice lattice(4, 4, true, 0.2, 0.1);
  const auto base = std::make_shared<const Independent>(Independent::uniform(lattice.domain()));
  const auto make = [&] {
    return std::make_unique<Ensemble>(
        std::vector<ChainGroup>{{&lattice, 5, base, 0.4}, {&lattice, 3, nullptr, 1}},
        EnsemblePlan{3, 1, 2, 0});
  };
  for (const char* name : {"dmala", "gwg", "gibbs"}) {
    const auto sampler =
        make_sampler(name, lattice, name[0] == 'd' ? Settings{{"step_size", "0.4"}} : Settings{});
    const auto run = [&](bool stop) {
      auto ensemble = make();
      ensemble->start_random();
      ensemble->evaluate();
      FirstLevels ignored(8);
      ensemble->advance(*sampler, 30, ignored);
      ensemble->set_beta(0, 0.7);
      if (stop) {
        ByteWriter out;
        ensemble->save(out);
        ensemble = make();
        ByteReader in(out.bytes());
        ensemble->restore(in);
        EXPECT_TRUE(in.empty());
        EXPECT_EQ(ensemble->beta(0), 0.7);
      }
      ensemble->advance(*sampler, 30, ignored);
      std::vector<Symbol> states;
      for (int c = 0; c < 8; ++c) {
        states.insert(states.end(), ensemble->state(c), ensemble->state(c) + 16);
      }
      return states;
    };
    EXPECT_EQ(run(false), run(true)) << name;
  }
}

}  // namespace
}  // namespace saltus
