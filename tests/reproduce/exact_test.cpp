// The exact laws that experiments rest on.
#include <gtest/gtest.h>

#include <cmath>

#include "reproduce/ising/runs.hpp"
#include "reproduce/small/dula_law.hpp"
#include "saltus/diagnose/conformance.hpp"
#include "saltus/diagnose/distance.hpp"
#include "saltus/diagnose/exact.hpp"
#include "saltus/sampler/dlp.hpp"
#include "saltus/target/ising_lattice.hpp"
#include "saltus/target/potts.hpp"

namespace saltus::reproduce {
namespace {

using namespace ising;

Dlp dula(const Domain& domain, double alpha) {
  DlpOptions options;
  options.adjust = false;
  options.step_size = alpha;
  return Dlp(domain, options);
}

TEST(DulaLaw, IsTheStationaryLawOfTheMatrix) {
  const IsingLattice ising(2, 2, true, 0.1, 0.2);
  const Potts potts(Domain::categorical(2, 3), {0.3, -0.5, 1.1, -0.2, -0.9, 0.7},
                    {{0, 1, {0.5, -0.3, 0.2, 0.1, 0.8, -0.6, -0.4, 0.3, 0.9}}});
  const double alpha = 0.5;
  for (const auto& [target, penalty] :
       {std::pair<const Target*, double>(&ising, 1 / (2 * alpha)), {&potts, 1 / alpha}}) {
    const StateTable table(*target);
    const std::vector<double> factor = log_normalizers(table, penalty);
    const Conformance exact = check_transitions(dula(target->domain(), alpha), table);
    EXPECT_LT(l1(tilted(table.probability(), factor), exact.stationary), 1e-13);
    EXPECT_NEAR(l1_of_tilt(table.probability(), factor), exact.l1, 1e-13);
  }
}

TEST(DulaLaw, TinyDistancesHaveTheirDigits) {
  const IsingLattice ising(2, 2, true, 0.1, 0.2);
  const StateTable table(ising);
  const auto distance = [&](double penalty) {
    return l1_of_tilt(table.probability(), log_normalizers(table, penalty));
  };
  EXPECT_NEAR(distance(20) / 1.6478442379e-09, 1, 1e-10);
  EXPECT_NEAR(distance(10) / 3.6294023642e-05, 1, 1e-10);
  // Far below the spacing of doubles near 1, it goes on falling like exp(-penalty).
  EXPECT_NEAR(distance(100) / distance(101), std::exp(1.0), 1e-12);
}

TEST(IsingExact, MeansOfTheTorus) {
  EXPECT_NEAR(ising_mean(0.1, 0.2), 0.48296984223599815, 1e-14);
  const double means[][2] = {{0.05, 0.29988564},
                             {0.15, 0.73155282},
                             {0.2, 0.89877327},
                             {0.25, 0.96300075},
                             {0.3, 0.98553238}};
  for (const auto& [a, mean] : means) EXPECT_NEAR(ising_mean(a, 0.2), mean, 5e-9) << a;
}

TEST(IsingExact, MeansOfDula) {
  const double means[][2] = {{0.1, 0.4776221616},
                             {0.2, 0.4231765072},
                             {0.3, 0.3606648008},
                             {0.4, 0.3154309115},
                             {0.6, 0.2627333603}};
  for (const auto& [alpha, mean] : means) {
    EXPECT_NEAR(ising_dula_mean(0.1, 0.2, alpha), mean, 5e-11) << alpha;
  }
}

// From an independent program.
TEST(IsingExact, ProposedChanges) {
  const double changes[][2] = {
      {0.1, 0.13627660740136094}, {0.5, 5.350957358851132}, {2, 8.836010147357849}};
  for (const auto& [alpha, n] : changes) {
    EXPECT_NEAR(ising_proposed_changes(0.1, 0.2, alpha), n, 1e-12) << alpha;
  }
}

}  // namespace
}  // namespace saltus::reproduce
