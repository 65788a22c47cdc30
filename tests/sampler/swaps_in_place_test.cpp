// Swaps under a constraint, in place: the same steps as by evaluating every proposal, and values
// that stay right.
#include <gtest/gtest.h>

#include "flip_helpers.hpp"
#include "saltus/target/bernoulli.hpp"
#include "saltus/target/constrained.hpp"
#include "saltus/target/ising_lattice.hpp"

namespace saltus {
namespace {

struct Case {
  std::string name;
  std::shared_ptr<const Target> model;
};

// With few neighbours, and with so many that all sites are weighed anew.
std::vector<Case> models() {
  return {{"lattice", std::make_shared<IsingLattice>(20, 20, true, 0.25, 0.1)},
          {"sparse", sparse_spins(400, 6, 1.0)},
          {"small", sparse_spins(30, 6, 1.0)},
          {"bernoulli", std::make_shared<Bernoulli>(std::vector<double>(100, 0.7))}};
}

std::vector<std::pair<std::string, Settings>> samplers() {
  return {{"gwg", {}}, {"pas", {{"swaps", "2"}}}};
}

TEST(SwapsInPlace, AreTheSameSteps) {
  for (const Case& c : models()) {
    const auto plain = std::make_shared<Plain>(*c.model);
    const int dim = c.model->domain().dim(), low = dim / 5;
    for (const Constraint& rule :
         {Constraint::sum(dim, low, low), Constraint::sum(dim, low, low + 3),
          Constraint::parity(dim, true)}) {
      for (const auto& [name, settings] : samplers()) {
        SCOPED_TRACE(c.name + " " + rule.text() + " " + name);
        const Constrained here(c.model, rule), there(plain, rule);
        const auto sampler = make_sampler(name, here, settings);
        const Walked a(here, *sampler, 2, 400, 12), b(there, *sampler, 2, 400, 12);
        EXPECT_TRUE(sampler->accumulates_rounding(here));
        EXPECT_FALSE(sampler->accumulates_rounding(there));
        EXPECT_EQ(a.states, b.states);
        EXPECT_NEAR(a.acceptance, b.acceptance, 1e-5);
        EXPECT_GT(a.accepted, 80u);
        EXPECT_LT(a.evaluations.gradient, 10u);
        EXPECT_EQ(b.evaluations.gradient, 800u);
      }
    }
  }
}

TEST(SwapsInPlace, KeepTheirValuesRight) {
  const std::shared_ptr<const Target> sparse = sparse_spins(700, 6, 1.5);
  for (const auto& [name, settings] : samplers()) {
    const Constrained target(sparse, Constraint::sum(700, 200, 220));
    // Coprime to the period of fresh evaluations, so that every age is looked at.
    const Walked w(target, *make_sampler(name, target, settings), 1, 30000, 3, 997);
    EXPECT_LT(w.score_error, 1e-4);
    EXPECT_LT(w.logp_error, 1e-8);
    EXPECT_LT(w.acceptance, 0.99);
    EXPECT_GT(w.acceptance, 0.3);
  }
}

}  // namespace
}  // namespace saltus
