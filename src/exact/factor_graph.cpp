#include <array>
#include <cmath>

#include "saltus/exact.hpp"
#include "saltus/model/condition.hpp"
#include "saltus/target/bernoulli.hpp"
#include "saltus/target/factors.hpp"
#include "saltus/target/given.hpp"
#include "saltus/target/ising_lattice.hpp"
#include "saltus/target/potts.hpp"
#include "saltus/target/quadratic.hpp"

namespace saltus {
namespace {

std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}

FactorsModel empty_graph(const Domain& domain) {
  FactorsModel graph;
  for (int i = 0; i < domain.dim(); ++i) graph.levels.push_back(domain.levels(i));
  return graph;
}

// weight v_i of one coordinate.
void add_field(FactorsModel& graph, const Domain& domain, int i, double weight) {
  std::vector<double> table;
  for (int k = 0; k < domain.levels(i); ++k) table.push_back(weight * domain.value(k));
  const std::array scope{std::int32_t{i}};
  graph.add_table(scope, table);
}

// weight v_i v_j; i and j may be the same.
void add_coupling(FactorsModel& graph, const Domain& domain, const Coupling& c) {
  std::vector<double> table;
  if (c.i == c.j) {
    for (int k = 0; k < domain.levels(c.i); ++k) {
      table.push_back(c.weight * domain.value(k) * domain.value(k));
    }
    const std::array scope{std::int32_t{c.i}};
    return graph.add_table(scope, table);
  }
  for (int k = 0; k < domain.levels(c.i); ++k) {
    for (int l = 0; l < domain.levels(c.j); ++l) {
      table.push_back(c.weight * domain.value(k) * domain.value(l));
    }
  }
  const std::array scope{std::int32_t{c.i}, std::int32_t{c.j}};
  graph.add_table(scope, table);
}

FactorsModel graph_of(const Quadratic& target) {
  const QuadraticModel model = target.model();
  FactorsModel graph = empty_graph(model.domain);
  graph.constant = model.constant;
  for (int i = 0; i < model.domain.dim(); ++i) {
    add_field(graph, model.domain, i, model.field[at(i)]);
  }
  for (const Coupling& c : model.couplings) add_coupling(graph, model.domain, c);
  return graph;
}

FactorsModel graph_of(const IsingLattice& target) {
  const Domain& domain = target.domain();
  FactorsModel graph = empty_graph(domain);
  graph.constant = target.model().constant;
  std::vector<std::int32_t> room(at(target.max_neighbours()));
  for (int i = 0; i < domain.dim(); ++i) {
    add_field(graph, domain, i, target.model().b);
    for (const std::int32_t j : target.neighbours(i, room.data())) {
      if (j > i) add_coupling(graph, domain, {i, j, 2 * target.model().a});
    }
  }
  return graph;
}

FactorsModel graph_of(const Potts& target) {
  const PottsModel& model = target.model();
  FactorsModel graph = empty_graph(model.domain);
  graph.constant = model.constant;
  for (int i = 0; i < model.domain.dim(); ++i) {
    const std::array scope{std::int32_t{i}};
    graph.add_table(scope,
                    std::span(model.unary)
                        .subspan(at(model.domain.score_begin(i)), at(model.domain.levels(i))));
  }
  for (const PottsEdge& e : model.edges) {
    const std::array scope{std::int32_t{e.i}, std::int32_t{e.j}};
    graph.add_table(scope, e.table);
  }
  return graph;
}

FactorsModel graph_of(const Bernoulli& target) {
  FactorsModel graph = empty_graph(target.domain());
  graph.constant = target.model().constant;
  for (int i = 0; i < target.domain().dim(); ++i) {
    add_field(graph, target.domain(), i, target.model().logits[at(i)]);
  }
  return graph;
}

}  // namespace

std::optional<FactorsModel> factor_graph(const Target& target) {
  if (target.domain().unbounded()) return std::nullopt;
  if (const auto* t = dynamic_cast<const Factors*>(&target)) return t->model();
  if (const auto* t = dynamic_cast<const Potts*>(&target)) return graph_of(*t);
  if (const auto* t = dynamic_cast<const Quadratic*>(&target)) return graph_of(*t);
  if (const auto* t = dynamic_cast<const IsingLattice*>(&target)) return graph_of(*t);
  if (const auto* t = dynamic_cast<const Bernoulli*>(&target)) return graph_of(*t);
  if (const auto* t = dynamic_cast<const Given*>(&target)) {
    const std::optional<FactorsModel> whole = factor_graph(t->model());
    if (!whole) return std::nullopt;
    return std::get<FactorsModel>(*condition(*whole, t->given()));
  }
  return std::nullopt;
}

}  // namespace saltus
