#include "saltus/model/models.hpp"

#include "saltus/core/error.hpp"
#include "saltus/target/bernoulli.hpp"
#include "saltus/target/factors.hpp"
#include "saltus/target/graph.hpp"
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
  Made operator()(const GraphModel& m) const { return std::make_unique<GraphTarget>(m); }
  Made operator()(const IsingModel& m) const { return make_ising(m); }
  Made operator()(const LatticeModel& m) const { return make_lattice(m); }
  Made operator()(const QuadraticModel& m) const { return std::make_unique<Quadratic>(m); }
  Made operator()(const PottsModel& m) const { return std::make_unique<Potts>(m); }
  Made operator()(const RbmModel& m) const { return std::make_unique<Rbm>(m); }
  Made operator()(const ResnetEnergy&) const { return network(); }
  Made operator()(const ScriptModel&) const { return network(); }

  static Made network() { throw UsageError("a network is made by the torch module"); }
};

// Multiplies all numbers of a model.
struct Scaler {
  double beta;

  void operator()(BernoulliModel& m) const {
    scale(m.logits);
    m.constant *= beta;
  }
  void operator()(IsingModel& m) const {
    scale(m.couplings), scale(m.fields);
    m.constant *= beta;
  }
  void operator()(LatticeModel& m) const { m.a *= beta, m.b *= beta, m.constant *= beta; }
  void operator()(QuadraticModel& m) const {
    scale(m.couplings), scale(m.field);
    m.constant *= beta;
  }
  void operator()(FactorsModel& m) const {
    if (!(beta > 0)) throw UsageError("a beta of 0 has no meaning beside forbidden states");
    scale(m.entries), scale(m.weights);
    m.constant *= beta;
  }
  void operator()(GraphModel& m) const {
    scale(m.pair), scale(m.linear), scale(m.square);
    m.constant *= beta;
  }
  void operator()(PottsModel& m) const {
    scale(m.unary);
    for (PottsEdge& edge : m.edges) scale(edge.table);
    m.constant *= beta;
  }
  template <class Other>
  void operator()(Other&) const {
    throw UsageError("the model holds no plain numbers that a beta could multiply");
  }

 private:
  void scale(std::vector<double>& numbers) const {
    for (double& v : numbers) v *= beta;
  }
  void scale(std::vector<Coupling>& couplings) const {
    for (Coupling& c : couplings) c.weight *= beta;
  }
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

const Labels& labels_of(const AnyModel& model) {
  static const Labels none;
  return std::visit(
      [](const auto& m) -> const Labels& {
        if constexpr (requires { m.labels; })
          return m.labels;
        else
          return none;
      },
      model);
}

AnyModel scaled(AnyModel model, double beta) {
  if (beta != 1) std::visit(Scaler{beta}, model);
  return model;
}

std::optional<Independent> model_base(const AnyModel& model) {
  const auto* network = std::get_if<ResnetEnergy>(&model);
  if (!network) return std::nullopt;
  return Independent::bernoulli(Domain::binary(network->shape.pixels()), network->base_mean);
}

}  // namespace saltus
