// Factor graphs in the formats of other programs: networks of UAI, and weighted clauses.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "io/factors/factor_forms.hpp"
#include "io/problems/problem_writers.hpp"

namespace saltus {
namespace {

// Doubles hold exp of numbers from -708 to 709.
constexpr double kMostLogarithm = 700;

// Moves a part of a table into the constant where its entries would leave the range of a double.
double moved_out(std::span<const double> table, const LeavingOut& leaving) {
  double low = INFINITY;
  for (const double v : table) low = std::isinf(v) ? low : std::min(low, v);
  const double high = *std::ranges::max_element(table);
  if (high <= kMostLogarithm && low >= -kMostLogarithm) return 0;
  if (high - low <= kMostLogarithm) return high;
  leaving.refuse(
      fmt::format("a table has logarithms from {} to {}, whose range the format's "
                  "numbers cannot hold",
                  low, high));
}

}  // namespace

void write_uai(const FactorsModel& graph, LeavingOut& leaving, OutputFile& file) {
  const FactorsModel tables = with_tables_alone(graph);
  double constant = tables.constant;
  std::vector<double> moved;
  for (std::size_t t = 0; t < tables.tables(); ++t) {
    moved.push_back(moved_out(tables.table(t), leaving));
    constant += moved.back();
  }
  const auto parts = static_cast<std::size_t>(std::ceil(std::abs(constant) / kMostLogarithm));
  file.append(fmt::format("MARKOV\n{}\n{}\n{}\n", tables.levels.size(),
                          fmt::join(tables.levels, " "), tables.tables() + parts));
  for (std::size_t t = 0; t < tables.tables(); ++t) {
    const auto scope = tables.scope(t);
    file.append(
        fmt::format("{}{}{}\n", scope.size(), scope.empty() ? "" : " ", fmt::join(scope, " ")));
  }
  for (std::size_t p = 0; p < parts; ++p) file.append("0\n");
  for (std::size_t t = 0; t < tables.tables(); ++t) {
    file.append(fmt::format("\n{}\n", tables.table(t).size()));
    for (const double v : tables.table(t)) file.append(fmt::format(" {}", std::exp(v - moved[t])));
    file.append("\n");
  }
  for (std::size_t p = 0; p < parts; ++p) {
    file.append(fmt::format("\n1\n {}\n", std::exp(constant / static_cast<double>(parts))));
  }
}

// The form with a line p, because it says how many variables there are. A constant that costs is an
// empty clause.
void write_wcnf(const FactorsModel& graph, LeavingOut& leaving, OutputFile& file) {
  for (std::size_t i = 0; i < graph.levels.size(); ++i) {
    if (graph.levels[i] == 2) continue;
    leaving.refuse(fmt::format("clauses have variables of two levels, and coordinate {} has {}", i,
                               graph.levels[i]));
  }
  FactorsModel clauses = with_clauses_alone(graph);
  double sum = 0, terms = std::abs(graph.constant);
  bool hard = false;
  for (const double w : clauses.weights) std::isinf(w) ? void(hard = true) : void(sum += w);
  for (const double v : graph.entries) terms += std::isinf(v) ? 0 : std::abs(v);
  const double cost = -clauses.constant;
  if (cost > kSumRounding * terms) {
    clauses.add_clause({}, cost);
    sum += cost;
  } else if (cost < -kSumRounding * terms) {
    leaving.constant(cost);
  }
  const auto positive =
      clauses.clauses() - static_cast<std::size_t>(std::ranges::count(clauses.weights, 0.0));
  const double top = std::max(std::floor(sum) + 1, std::nextafter(sum, INFINITY));
  file.append(fmt::format("p wcnf {} {}", clauses.levels.size(), positive));
  file.append(hard ? fmt::format(" {}\n", top) : "\n");
  for (std::size_t c = 0; c < clauses.clauses(); ++c) {
    const double weight = clauses.weights[c];
    if (weight == 0) continue;
    std::string line = fmt::format("{} ", std::isinf(weight) ? top : weight);
    for (const auto& l : clauses.clause(c)) {
      line += fmt::format("{}{} ", l.level ? "" : "-", l.coordinate + 1);
    }
    file.append(line + "0\n");
  }
}

}  // namespace saltus
