#include "saltus/model/models.hpp"

#include "saltus/core/error.hpp"
#include "saltus/target/bernoulli.hpp"
#include "saltus/target/factors.hpp"
#include "saltus/target/independent.hpp"
#include "saltus/target/ising_lattice.hpp"
#include "saltus/target/poisson.hpp"
#include "saltus/target/potts.hpp"
#include "saltus/target/quadratic.hpp"
#include "saltus/target/rbm.hpp"

namespace saltus {
namespace {

struct Maker {
  using Made = std::unique_ptr<Target>;

  Made operator()(const BernoulliModel& m) const { return std::make_unique<Bernoulli>(m); }
  Made operator()(const PoissonModel& m) const { return std::make_unique<Poisson>(m); }
  Made operator()(const FactorsModel& m) const { return std::make_unique<Factors>(m); }
  Made operator()(const IsingModel& m) const { return make_ising(m); }
  Made operator()(const LatticeModel& m) const { return make_lattice(m); }
  Made operator()(const QuadraticModel& m) const { return std::make_unique<Quadratic>(m); }
  Made operator()(const PottsModel& m) const { return std::make_unique<Potts>(m); }
  Made operator()(const RbmModel& m) const { return std::make_unique<Rbm>(m); }
  Made operator()(const ResnetEnergy&) const { return network(); }
  Made operator()(const ScriptModel&) const { return network(); }

  static Made network() { throw UsageError("a network is made by the torch module"); }
};

}  // namespace

void FactorsModel::add_table(std::span<const std::int32_t> scope,
                             std::span<const double> log_values) {
  scopes.insert(scopes.end(), scope.begin(), scope.end());
  scope_begin.push_back(scopes.size());
  entries.insert(entries.end(), log_values.begin(), log_values.end());
  entry_begin.push_back(entries.size());
}

void FactorsModel::add_clause(std::span<const Literal> clause, double weight) {
  literals.insert(literals.end(), clause.begin(), clause.end());
  clause_begin.push_back(literals.size());
  weights.push_back(weight);
}

std::unique_ptr<Target> make_target(const AnyModel& model) {
  return std::visit(Maker{}, model);
}

std::optional<Independent> model_base(const AnyModel& model) {
  const auto* network = std::get_if<ResnetEnergy>(&model);
  if (!network) return std::nullopt;
  return Independent::bernoulli(Domain::binary(network->shape.pixels()), network->base_mean);
}

}  // namespace saltus
