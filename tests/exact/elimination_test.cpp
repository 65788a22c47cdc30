// Elimination against enumeration, and against transfer matrices where there are too many states.
#include <gtest/gtest.h>

#include <numeric>

#include "factor_models.hpp"
#include "saltus/exact.hpp"
#include "saltus/target/bernoulli.hpp"
#include "saltus/target/factors.hpp"
#include "saltus/target/ising_lattice.hpp"
#include "saltus/target/poisson.hpp"
#include "saltus/target/potts.hpp"
#include "saltus/target/quadratic.hpp"
#include "saltus/target/rbm.hpp"

namespace saltus {
namespace {

std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}

// Of every state of a model, in order.
struct Enumerated {
  double log_z = kMinusInfinity, best = kMinusInfinity;
  std::vector<double> probabilities;

  explicit Enumerated(const FactorsModel& m) {
    std::vector<std::size_t> begin;
    std::size_t total = 0;
    for (const int l : m.levels) begin.push_back(total), total += at(l);
    probabilities.resize(total);
    std::vector<std::vector<Symbol>> states{std::vector<Symbol>(m.levels.size())};
    for (std::size_t i = 0; i < m.levels.size(); ++i) {
      const std::size_t count = states.size();
      for (int l = 1; l < m.levels[i]; ++l) {
        for (std::size_t s = 0; s < count; ++s) {
          states.push_back(states[s]);
          states.back()[i] = static_cast<Symbol>(l);
        }
      }
    }
    for (const auto& x : states) best = std::max(best, logp_of(m, x));
    double sum = 0;
    for (const auto& x : states) {
      const double weight = std::exp(logp_of(m, x) - best);
      sum += weight;
      for (std::size_t i = 0; i < x.size(); ++i) probabilities[begin[i] + x[i]] += weight;
    }
    for (double& p : probabilities) p /= sum;
    log_z = best + std::log(sum);
  }
};

void expect_as_enumerated(const FactorsModel& m) {
  const Enumerated exact(m);
  const EliminationAnswer answer = eliminate(m);
  EXPECT_NEAR(answer.log_z, exact.log_z, 1e-12 * (1 + std::abs(exact.log_z)));
  EXPECT_NEAR(answer.best_logp, exact.best, 1e-12 * (1 + std::abs(exact.best)));
  EXPECT_NEAR(logp_of(m, answer.best), exact.best, 1e-12 * (1 + std::abs(exact.best)));
  ASSERT_EQ(answer.probabilities.size(), exact.probabilities.size());
  for (std::size_t k = 0; k < exact.probabilities.size(); ++k) {
    EXPECT_NEAR(answer.probabilities[k], exact.probabilities[k], 1e-12);
    EXPECT_EQ(answer.probabilities[k] == 0, exact.probabilities[k] == 0);
  }
}

TEST(Elimination, AgreesWithEnumerationOnRandomGraphs) {
  for (unsigned seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    const FactorsModel m =
        random_factors(seed, 4 + static_cast<int>(seed % 5), 4 + static_cast<int>(seed % 11),
                       seed % 2 ? 2 : 4, seed % 3 ? 0.2 : 0);
    if (Enumerated(m).best == kMinusInfinity) {
      EXPECT_TRUE(eliminate(m).best.empty());
      EXPECT_EQ(eliminate(m).log_z, kMinusInfinity);
      continue;
    }
    expect_as_enumerated(m);
  }
}

TEST(Elimination, AgreesWithEnumerationOnSmallModels) {
  for (const FactorsModel& m : {equal_bits(), uneven_factors(), hard_clauses()}) {
    expect_as_enumerated(m);
  }
  EXPECT_NEAR(eliminate(equal_bits()).log_z, 3.5217862741927415, 1e-12);
}

TEST(Elimination, AgreesWithEnumerationOnATree) {
  FactorsModel m;
  m.levels.assign(12, 2);
  for (int i = 1; i < 12; ++i) {
    m.add_table(std::vector<std::int32_t>{i, (i - 1) / 2},
                std::vector{0.1 * i, -0.3, 0.2, i == 5 ? kMinusInfinity : 0.7});
  }
  expect_as_enumerated(m);
  EXPECT_EQ(eliminate(m).width, 1);
}

TEST(Elimination, AgreesWithEnumerationOnEveryTargetThatIsAGraph) {
  std::vector<std::unique_ptr<Target>> targets;
  targets.push_back(std::make_unique<IsingLattice>(4, 4, true, 0.15, 0.2));
  targets.push_back(std::make_unique<IsingLattice>(2, 3, true, 0.15, 0.2));
  targets.push_back(std::make_unique<IsingLattice>(4, 5, false, -0.3, 0.1));
  targets.push_back(make_ising(4, {{0, 1, 0.6}, {1, 2, -0.5}, {0, 3, 0.3}}, {0.1, -0.3, 0.2, 0}));
  targets.push_back(
      std::make_unique<Quadratic>("ordered", Domain::ordered({4, 3, 2}),
                                  std::vector<Coupling>{{0, 0, -0.2}, {0, 1, 0.3}, {1, 2, -0.4}},
                                  std::vector<double>{0.5, 0.1, 0.3}));
  targets.push_back(std::make_unique<Bernoulli>(BernoulliModel{{-1.5, 0.2, 2}}));
  targets.push_back(std::make_unique<Potts>(
      Domain::categorical({3, 2, 4}), std::vector<double>{.3, -.5, 1.1, .2, -.1, 0, .4, -.6, .2},
      std::vector<PottsEdge>{{0, 1, {.5, -.3, .2, .1, .8, -.6}},
                             {1, 2, {.3, -.2, .5, .1, -.4, .2, 0, .6}}}));
  for (const auto& target : targets) {
    SCOPED_TRACE(target->name());
    const ExactAnswer all = exact_answer(*target, 1);
    const auto quick = quick_elimination(*target);
    ASSERT_TRUE(quick);
    EXPECT_NEAR(quick->log_z, all.log_z, 1e-12 * (1 + std::abs(all.log_z)));
    for (std::size_t i = 0; i < all.means.size(); ++i) {
      EXPECT_NEAR(quick->means[i], all.means[i], 1e-12);
    }
    ASSERT_EQ(quick->classes.size(), all.classes.size());
    for (std::size_t k = 0; k < all.classes.size(); ++k) {
      EXPECT_NEAR(quick->classes[k], all.classes[k], 1e-12);
    }
  }
  EXPECT_FALSE(factor_graph(Rbm({.8, -1.2}, {-.2, .4}, {.1})));
  EXPECT_FALSE(factor_graph(Poisson({0.7})));
}

// By products of matrices, rescaled on the way.
struct ChainByMatrices {
  static constexpr int kLevels = 3;
  int sites;
  std::vector<double> coupling, field;  // of each site and level, log
  double log_z = 0;
  std::vector<double> first;  // probabilities of the levels of site 0

  explicit ChainByMatrices(int n) : sites(n) {
    for (int k = 0; k < kLevels * kLevels; ++k) coupling.push_back(0.37 * ((k * 5) % 7) - 1);
    coupling[5] = kMinusInfinity;
    for (int k = 0; k < n * kLevels; ++k) field.push_back(std::sin(k));
    std::vector<double> weight(kLevels, 1);
    for (int i = n - 1; i > 0; --i) {
      std::vector<double> next(kLevels);
      double top = 0;
      for (int a = 0; a < kLevels; ++a) {
        for (int b = 0; b < kLevels; ++b) {
          next[at(a)] +=
              std::exp(coupling[at(a * kLevels + b)] + field[at(i * kLevels + b)]) * weight[at(b)];
        }
        top = std::max(top, next[at(a)]);
      }
      for (double& w : next) w /= top;
      log_z += std::log(top);
      weight = next;
    }
    double sum = 0;
    for (int a = 0; a < kLevels; ++a) {
      first.push_back(std::exp(field[at(a)]) * weight[at(a)]);
      sum += first.back();
    }
    for (double& p : first) p /= sum;
    log_z += std::log(sum);
  }

  FactorsModel model() const {
    FactorsModel m;
    m.levels.assign(at(sites), kLevels);
    for (int i = 0; i < sites; ++i) {
      m.add_table(std::vector<std::int32_t>{i}, std::span(field).subspan(at(i * kLevels), kLevels));
      if (i > 0) m.add_table(std::vector<std::int32_t>{i - 1, i}, coupling);
    }
    return m;
  }
};

TEST(Elimination, AgreesWithTransferMatricesOnAChainOfAThousand) {
  const ChainByMatrices chain(1000);
  const EliminationAnswer answer = eliminate(chain.model());
  EXPECT_NEAR(answer.log_z / chain.log_z, 1, 1e-12);
  EXPECT_EQ(answer.width, 1);
  for (std::size_t a = 0; a < 3; ++a) {
    EXPECT_NEAR(answer.probabilities[a], chain.first[a], 1e-12);
  }
  for (std::size_t i = 0; i < 1000; ++i) {
    const auto p = answer.probabilities.begin() + static_cast<std::ptrdiff_t>(3 * i);
    EXPECT_NEAR(std::accumulate(p, p + 3, 0.0), 1, 1e-12);
  }
  EXPECT_NEAR(logp_of(chain.model(), answer.best), answer.best_logp, 1e-9);
}

// Onsager and Kaufman's numbers are not needed: without a field, log Z of a long strip is that of
// its transfer matrix, here of one spin.
TEST(Elimination, AgreesWithTheClosedFormOfARing) {
  const double j = 0.4;
  const int n = 300;
  std::vector<Coupling> ring;
  for (int i = 0; i < n; ++i) ring.push_back({i, (i + 1) % n, j});
  const auto target = make_ising(n, ring, std::vector<double>(at(n)));
  const auto answer = quick_elimination(*target);
  ASSERT_TRUE(answer);
  const double expected = n * std::log(2 * std::cosh(j)) + std::log1p(std::pow(std::tanh(j), n));
  EXPECT_NEAR(answer->log_z / expected, 1, 1e-12);
  EXPECT_NEAR(answer->means[17], 0, 1e-12);
}

TEST(Elimination, RefusesWhatIsTooWide) {
  const IsingLattice wide(60, 60, true, 0.1, 0);
  try {
    eliminate(*factor_graph(wide));
    FAIL();
  } catch (const TooWide& e) {
    EXPECT_NE(std::string(e.what()).find("1024 MiB are allowed"), std::string::npos) << e.what();
  }
  EXPECT_FALSE(quick_elimination(wide));
  const IsingLattice narrow(60, 5, false, 0.1, 0);
  EXPECT_TRUE(quick_elimination(narrow));
  EXPECT_THROW(eliminate(*factor_graph(narrow), {1000}), TooWide);
  FactorsModel clause;  // a single clause over many coordinates
  clause.levels.assign(100, 2);
  std::vector<FactorsModel::Literal> literals;
  for (int i = 0; i < 100; ++i) literals.push_back({i, 1});
  clause.add_clause(literals, 1);
  EXPECT_THROW(eliminate(clause), TooWide);
}

}  // namespace
}  // namespace saltus
