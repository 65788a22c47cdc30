#include "io/factors/factor_forms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "saltus/core/error.hpp"
#include "saltus/exact.hpp"

namespace saltus {
namespace {

constexpr double kNoState = -std::numeric_limits<double>::infinity();
constexpr std::size_t kMostClauseEntries = std::size_t{1} << 20;

using Literal = FactorsModel::Literal;

FactorsModel without_factors(const FactorsModel& graph) {
  FactorsModel empty;
  empty.levels = graph.levels;
  empty.constant = graph.constant;
  return empty;
}

std::size_t levels_of(const FactorsModel& graph, std::int32_t i) {
  return static_cast<std::size_t>(graph.levels[static_cast<std::size_t>(i)]);
}

// The level of the coordinate at place `at` of a scope in an entry of its table.
std::size_t level_in(const FactorsModel& graph, std::span<const std::int32_t> scope, std::size_t at,
                     std::size_t entry) {
  for (std::size_t k = scope.size() - 1; k > at; --k) entry /= levels_of(graph, scope[k]);
  return entry % levels_of(graph, scope[at]);
}

void add_as_table(FactorsModel& to, std::span<const Literal> clause, double weight) {
  std::vector<std::int32_t> scope;
  for (const Literal& l : clause) scope.push_back(l.coordinate);
  std::ranges::sort(scope);
  const auto rest = std::ranges::unique(scope);
  scope.erase(rest.begin(), rest.end());
  std::size_t entries = 1;
  for (const std::int32_t i : scope) {
    entries *= levels_of(to, i);
    if (entries > kMostClauseEntries) {
      throw DataError(
          fmt::format("a clause over {} coordinates has no place in a table: it would "
                      "have more than {} entries",
                      scope.size(), kMostClauseEntries));
    }
  }
  std::vector<double> table(entries, -weight);
  for (std::size_t e = 0; e < entries; ++e) {
    for (const Literal& l : clause) {
      const auto at =
          static_cast<std::size_t>(std::ranges::find(scope, l.coordinate) - scope.begin());
      if (level_in(to, scope, at, e) == l.level) table[e] = 0;
    }
  }
  to.add_table(scope, table);
}

void add_as_clauses(FactorsModel& to, std::span<const std::int32_t> scope,
                    std::span<const double> table) {
  const double top = *std::ranges::max_element(table);
  to.constant += top;
  std::vector<Literal> clause(scope.size());
  for (std::size_t e = 0; e < table.size(); ++e) {
    if (table[e] == top) continue;
    for (std::size_t k = 0; k < scope.size(); ++k) {
      clause[k] = {scope[k], static_cast<Symbol>(1 - level_in(to, scope, k, e))};
    }
    to.add_clause(clause, table[e] == kNoState ? -kNoState : top - table[e]);
  }
}

}  // namespace

std::optional<FactorsModel> graph_of_model(const AnyModel& model) {
  if (const auto* graph = std::get_if<FactorsModel>(&model)) return *graph;
  const bool pairs_at_most =
      std::holds_alternative<BernoulliModel>(model) || std::holds_alternative<IsingModel>(model) ||
      std::holds_alternative<LatticeModel>(model) || std::holds_alternative<PottsModel>(model) ||
      std::holds_alternative<QuadraticModel>(model);
  if (!pairs_at_most) return std::nullopt;
  return factor_graph(*make_target(model));
}

FactorsModel with_tables_alone(const FactorsModel& graph) {
  FactorsModel to = without_factors(graph);
  for (std::size_t t = 0; t < graph.tables(); ++t) to.add_table(graph.scope(t), graph.table(t));
  for (std::size_t c = 0; c < graph.clauses(); ++c) {
    add_as_table(to, graph.clause(c), graph.weights[c]);
  }
  return to;
}

FactorsModel with_clauses_alone(const FactorsModel& graph) {
  FactorsModel to = without_factors(graph);
  for (std::size_t c = 0; c < graph.clauses(); ++c) {
    to.add_clause(graph.clause(c), graph.weights[c]);
  }
  for (std::size_t t = 0; t < graph.tables(); ++t) {
    add_as_clauses(to, graph.scope(t), graph.table(t));
  }
  return to;
}

}  // namespace saltus
