// Small factor graphs with forbidden states, and random ones with a plain way to evaluate them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "saltus/model/models.hpp"

namespace saltus {

inline constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

// Tables with a forbidden entry, a soft and a hard clause, a scope twice, a constant.
inline const std::string kMixedFactors =
    R"({"model": "factors", "levels": [2, 3, 2, 2], "factors": [
  {"over": [1, 0], "log": [1.763, -0.123, 0.383, -0.237, 2.425, -0.438]},
  {"over": [2, 1, 3], "log": [-1.393, -0.148, 0.932, 0.823, -1.531, 0.233, 1.083, 0.226, 1.018,
    0.015, -1.521, 0.565]},
  {"over": [], "log": [0.75]},
  {"clause": [[0, 1], [1, 2]], "weight": 1.5},
  {"clause": [[2, 0], [3, 1]], "hard": true},
  {"over": [1, 0], "log": [0.5, 0, 0, 0, 0, "-inf"]}], "constant": -0.5})";

// Bits 0 and 4 must agree: no change of one bit leaves the state allowed.
inline const std::string kEqualBits =
    R"({"model": "factors", "levels": [2, 2, 2, 2, 2], "factors": [
  {"over": [0, 1, 2], "log": [-1.125, 0.725, -0.98, 1.057, -0.894, -1.217, -1.413, 0.057]},
  {"over": [2, 3, 4], "log": [-0.835, 1.545, -0.87, -0.244, 0.562, -0.458, 0.205, 0.504]},
  {"over": [0, 4], "log": [0.5, "-inf", "-inf", 0.25]}]})";

inline FactorsModel equal_bits() {
  FactorsModel m;
  m.levels.assign(5, 2);
  m.add_table(std::vector<std::int32_t>{0, 1, 2},
              std::vector{-1.125, 0.725, -0.98, 1.057, -0.894, -1.217, -1.413, 0.057});
  m.add_table(std::vector<std::int32_t>{2, 3, 4},
              std::vector{-0.835, 1.545, -0.87, -0.244, 0.562, -0.458, 0.205, 0.504});
  m.add_table(std::vector<std::int32_t>{0, 4},
              std::vector{0.5, kMinusInfinity, kMinusInfinity, 0.25});
  return m;
}

// Levels that differ, one of them alone, and a clause that names two levels of a coordinate.
inline FactorsModel uneven_factors() {
  FactorsModel m;
  m.levels = {3, 1, 2, 3};
  m.constant = 0.3;
  m.add_table(std::vector<std::int32_t>{3}, std::vector{0.2, -0.4, 0.1});
  m.add_table(std::vector<std::int32_t>{2, 1, 0}, std::vector{0.5, -0.7, 0.1, 0.3, 0.9, -0.2});
  m.add_clause(std::vector<FactorsModel::Literal>{{0, 1}, {3, 0}, {3, 2}}, 0.8);
  m.add_clause(std::vector<FactorsModel::Literal>{{2, 1}, {0, 0}, {2, 1}}, 1.1);
  return m;
}

// Hard clauses over five bits: a path of single changes joins all states that satisfy them.
inline FactorsModel hard_clauses() {
  FactorsModel m;
  m.levels.assign(5, 2);
  const double hard = -kMinusInfinity;
  m.add_clause(std::vector<FactorsModel::Literal>{{0, 1}, {1, 0}, {2, 1}}, hard);
  m.add_clause(std::vector<FactorsModel::Literal>{{1, 1}, {3, 1}, {4, 0}}, hard);
  m.add_clause(std::vector<FactorsModel::Literal>{{0, 0}, {3, 0}, {4, 1}}, hard);
  m.add_clause(std::vector<FactorsModel::Literal>{{2, 0}, {4, 1}}, 0.7);
  m.add_table(std::vector<std::int32_t>{2}, std::vector{0.0, 0.4});
  return m;
}

// log p by the definition.
inline double logp_of(const FactorsModel& m, const std::vector<Symbol>& x) {
  double sum = m.constant;
  for (std::size_t t = 0; t < m.tables(); ++t) {
    std::size_t entry = 0;
    for (const std::int32_t i : m.scope(t)) {
      const auto at = static_cast<std::size_t>(i);
      entry = entry * static_cast<std::size_t>(m.levels[at]) + x[at];
    }
    sum += m.table(t)[entry];
  }
  for (std::size_t c = 0; c < m.clauses(); ++c) {
    bool holds = false;
    for (const auto& l : m.clause(c)) {
      holds = holds || x[static_cast<std::size_t>(l.coordinate)] == l.level;
    }
    if (!holds) sum -= m.weights[c];
  }
  return sum;
}

// Of up to three coordinates a factor; some entries forbidden, but none of the state of zeros.
inline FactorsModel random_factors(unsigned seed, int dim, int factors, int most_levels,
                                   double forbidden) {
  std::mt19937 random(seed);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  const auto uniform = [&] { return static_cast<double>(random()) / 4294967296.0; };
  FactorsModel m;
  m.constant = uniform();
  for (int i = 0; i < dim; ++i) m.levels.push_back(2 + below(most_levels - 1));
  for (int f = 0; f < factors; ++f) {
    std::vector<std::int32_t> scope;
    const int size = 1 + below(3);
    while (static_cast<int>(scope.size()) < size) {
      const int i = below(dim);
      if (std::find(scope.begin(), scope.end(), i) == scope.end()) scope.push_back(i);
    }
    if (f % 4 == 3) {
      std::vector<FactorsModel::Literal> clause{{scope[0], 0}};
      for (const std::int32_t i : scope) {
        clause.push_back({i, static_cast<Symbol>(below(m.levels[static_cast<std::size_t>(i)]))});
      }
      m.add_clause(clause, uniform() < forbidden ? -kMinusInfinity : 2 * uniform());
      continue;
    }
    std::size_t entries = 1;
    for (const std::int32_t i : scope) {
      entries *= static_cast<std::size_t>(m.levels[static_cast<std::size_t>(i)]);
    }
    std::vector<double> table;
    for (std::size_t e = 0; e < entries; ++e) {
      table.push_back(e > 0 && uniform() < forbidden ? kMinusInfinity : 3 * uniform() - 1.5);
    }
    m.add_table(scope, table);
  }
  return m;
}

}  // namespace saltus
