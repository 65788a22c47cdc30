// How a factor graph is checked, and laid out for evaluation.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "saltus/core/error.hpp"
#include "saltus/target/factors.hpp"

namespace saltus {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLargest = 1e30;         // of an entry: a float holds sums of many such
constexpr double kLeastPenalty = 0x1p20;  // exp(-2^19) is 0

using Literal = FactorsModel::Literal;

std::size_t index(int i) {
  return static_cast<std::size_t>(i);
}

Domain domain_of(const std::vector<int>& levels) {
  if (std::all_of(levels.begin(), levels.end(), [](int l) { return l == 2; })) {
    return Domain::binary(static_cast<int>(levels.size()));
  }
  if (std::all_of(levels.begin(), levels.end(), [](int l) { return l == 1; })) {
    throw DataError("every coordinate has a single level: there is nothing to draw");
  }
  return Domain::categorical(levels);
}

void check_coordinate(const std::string& where, int i, const Domain& domain) {
  if (i >= 0 && i < domain.dim()) return;
  throw DataError(where + " names coordinate " + std::to_string(i) + " of " +
                  std::to_string(domain.dim()));
}

void check_scope(const std::string& where, std::span<const std::int32_t> scope,
                 const Domain& domain) {
  for (const std::int32_t i : scope) check_coordinate(where, i, domain);
  std::vector<std::int32_t> sorted(scope.begin(), scope.end());
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice == sorted.end()) return;
  throw DataError(where + " names coordinate " + std::to_string(*twice) + " twice");
}

void check_entries(const std::string& where, std::span<const double> entries) {
  bool possible = false;
  for (const double e : entries) {
    if (!(e == -kInfinity || std::abs(e) < kLargest)) {
      throw DataError(where + " has the entry " + std::to_string(e) +
                      "; entries lie within 1e30 of 0, or are -infinity");
    }
    possible = possible || e != -kInfinity;
  }
  if (!possible) throw DataError(where + " forbids every state");
}

}  // namespace

double Factors::usual_floor(int dim) {
  return std::clamp(2 * std::log(dim), 4.0, 20.0);
}

Factors::Factors(FactorsModel model, std::optional<double> floor)
    : model_(std::move(model)),
      domain_(domain_of(model_.levels)),
      floor_(floor.value_or(usual_floor(domain_.dim()))) {
  check();
  tidy_clauses();
  find_penalty();
  merge_unary();
  list_ends();
}

void Factors::check() const {
  for (std::size_t t = 0; t < model_.tables(); ++t) {
    const std::string where = "table " + std::to_string(t);
    check_scope(where, model_.scope(t), domain_);
    double size = 1;
    for (const std::int32_t i : model_.scope(t)) size *= domain_.levels(i);
    const auto entries = static_cast<double>(model_.table(t).size());
    if (entries != size || size > std::numeric_limits<std::int32_t>::max()) {
      throw DataError(where + " has " + std::to_string(model_.table(t).size()) +
                      " entries, which are not those of its coordinates' levels");
    }
    check_entries(where, model_.table(t));
  }
  for (std::size_t c = 0; c < model_.clauses(); ++c) {
    const std::string where = "clause " + std::to_string(c);
    for (const Literal& l : model_.clause(c)) {
      check_coordinate(where, l.coordinate, domain_);
      if (l.level < domain_.levels(l.coordinate)) continue;
      throw DataError(where + " names level " + std::to_string(l.level) + " of coordinate " +
                      std::to_string(l.coordinate) + ", which has " +
                      std::to_string(domain_.levels(l.coordinate)));
    }
    const double w = model_.weights[c];
    if (!(w >= 0) || (w >= kLargest && w != kInfinity)) {
      throw DataError(where + " has the weight " + std::to_string(w) +
                      "; weights lie from 0 to 1e30, or are infinite");
    }
  }
  if (!(std::abs(model_.constant) < kInfinity)) throw DataError("the constant is not finite");
}

void Factors::tidy_clauses() {
  FactorsModel& m = model_;
  std::size_t kept = 0, end = 0;
  std::vector<Literal> clause;
  for (std::size_t c = 0, from = 0, to = 0; c < m.clauses(); ++c, from = to) {
    to = m.clause_begin[c + 1];  // until a shorter clause takes its place
    const auto read = std::span(m.literals).subspan(from, to - from);
    clause.assign(read.begin(), read.end());
    std::sort(clause.begin(), clause.end(), [](const Literal& a, const Literal& b) {
      return a.coordinate != b.coordinate ? a.coordinate < b.coordinate : a.level < b.level;
    });
    clause.erase(std::unique(clause.begin(), clause.end()), clause.end());
    if (clause.empty() && m.weights[c] == kInfinity) {
      throw DataError("a hard clause without literals forbids every state");
    }
    if (clause.empty()) m.constant -= m.weights[c];
    bool always = clause.empty() || m.weights[c] == 0;
    for (std::size_t k = 0, levels = 0; k < clause.size(); ++k) {
      const int i = clause[k].coordinate;
      levels = k > 0 && clause[k - 1].coordinate == i ? levels + 1 : 1;
      always = always || levels == index(domain_.levels(i));
    }
    if (always) continue;
    // Never beyond what was read: clauses only get shorter.
    std::copy(clause.begin(), clause.end(), m.literals.begin() + static_cast<std::ptrdiff_t>(end));
    end += clause.size();
    m.weights[kept] = m.weights[c];
    m.clause_begin[++kept] = end;
  }
  m.literals.resize(end);
  m.weights.resize(kept);
  m.clause_begin.resize(kept + 1);
}

// A power of two, so that sums with it lose little, above anything that a change of one coordinate
// can do within the finite parts.
void Factors::find_penalty() {
  std::vector<double> reach(index(domain_.dim()));
  for (std::size_t t = 0; t < model_.tables(); ++t) {
    double low = kInfinity, high = -kInfinity;
    for (const double e : model_.table(t)) {
      forbids_ = forbids_ || e == -kInfinity;
      if (e != -kInfinity) low = std::min(low, e), high = std::max(high, e);
    }
    const double largest = std::max(std::abs(low), std::abs(high));
    for (const std::int32_t i : model_.scope(t)) reach[index(i)] += 2 * largest;
  }
  for (std::size_t c = 0; c < model_.clauses(); ++c) {
    forbids_ = forbids_ || model_.weights[c] == kInfinity;
    if (model_.weights[c] == kInfinity) continue;
    for (const Literal& l : model_.clause(c)) reach[index(l.coordinate)] += model_.weights[c];
  }
  if (!forbids_) return;
  penalty_ = kLeastPenalty;
  for (const double r : reach) {
    while (penalty_ < 8 * r) penalty_ *= 2;
  }
  std::replace(model_.entries.begin(), model_.entries.end(), -kInfinity, -penalty_);
  std::replace(model_.weights.begin(), model_.weights.end(), kInfinity, penalty_);
}

void Factors::merge_unary() {
  FactorsModel& m = model_;
  unary_.resize(levels_begin(domain_.dim() - 1) + index(domain_.levels(domain_.dim() - 1)));
  std::size_t kept = 0, scopes = 0, entries = 0;
  for (std::size_t t = 0; t < m.tables(); ++t) {
    const auto scope = m.scope(t);
    const auto table = m.table(t);
    if (scope.empty()) {
      m.constant += table[0];
      continue;
    }
    if (scope.size() == 1) {
      double* own = unary_.data() + levels_begin(scope[0]);
      for (std::size_t k = 0; k < table.size(); ++k) own[k] += table[k];
      continue;
    }
    std::copy(scope.begin(), scope.end(), m.scopes.begin() + static_cast<std::ptrdiff_t>(scopes));
    std::copy(table.begin(), table.end(), m.entries.begin() + static_cast<std::ptrdiff_t>(entries));
    scopes += scope.size(), entries += table.size();
    m.scope_begin[++kept] = scopes;
    m.entry_begin[kept] = entries;
  }
  m.scopes.resize(scopes);
  m.entries.resize(entries);
  m.scope_begin.resize(kept + 1);
  m.entry_begin.resize(kept + 1);
}

void Factors::list_ends() {
  const std::size_t dim = index(domain_.dim());
  strides_.resize(model_.scopes.size());
  ends_begin_.resize(dim + 1);
  clauses_begin_.resize(dim + 1);
  std::vector<std::int64_t> around(dim);
  for (std::size_t t = 0; t < model_.tables(); ++t) {
    std::int32_t stride = 1;
    for (std::size_t s = model_.scope_begin[t + 1]; s-- > model_.scope_begin[t];) {
      const int i = model_.scopes[s];
      strides_[s] = stride;
      stride *= domain_.levels(i);
      ++ends_begin_[index(i) + 1];
      around[index(i)] += static_cast<std::int64_t>(model_.scope(t).size()) - 1;
    }
  }
  const auto each_coordinate = [&](std::size_t c, const auto& work) {
    const auto clause = model_.clause(c);
    for (std::size_t k = 0; k < clause.size(); ++k) {
      if (k == 0 || clause[k - 1].coordinate != clause[k].coordinate) {
        work(index(clause[k].coordinate));
      }
    }
  };
  for (std::size_t c = 0; c < model_.clauses(); ++c) {
    each_coordinate(c, [&](std::size_t i) {
      ++clauses_begin_[i + 1];
      around[i] += static_cast<std::int64_t>(model_.clause(c).size());
    });
  }
  const std::int64_t most = *std::max_element(around.begin(), around.end());
  if (most > std::numeric_limits<int>::max() ||
      model_.clauses() > index(std::numeric_limits<int>::max())) {
    throw DataError("there are more than 2147483647 factors in all, or at one coordinate");
  }
  max_neighbours_ = static_cast<int>(most);
  for (std::size_t i = 0; i < dim; ++i) {
    ends_begin_[i + 1] += ends_begin_[i];
    clauses_begin_[i + 1] += clauses_begin_[i];
  }
  ends_.resize(ends_begin_.back());
  clauses_of_.resize(clauses_begin_.back());
  std::vector<std::size_t> next_end(ends_begin_), next_clause(clauses_begin_);
  for (std::size_t t = 0; t < model_.tables(); ++t) {
    for (std::size_t s = model_.scope_begin[t]; s < model_.scope_begin[t + 1]; ++s) {
      ends_[next_end[index(model_.scopes[s])]++] = {static_cast<std::int32_t>(t), strides_[s]};
    }
  }
  for (std::size_t c = 0; c < model_.clauses(); ++c) {
    each_coordinate(
        c, [&](std::size_t i) { clauses_of_[next_clause[i]++] = static_cast<std::int32_t>(c); });
  }
}

FactorsModel Factors::model() const {
  FactorsModel m = model_;
  for (int i = 0; i < domain_.dim(); ++i) {
    const auto own = std::span(unary_).subspan(levels_begin(i), index(domain_.levels(i)));
    const std::int32_t scope[] = {i};
    if (std::any_of(own.begin(), own.end(), [](double e) { return e != 0; })) {
      m.add_table(scope, own);
    }
  }
  if (!forbids_) return m;
  for (double& e : m.entries) e = e < -penalty_ / 2 ? -kInfinity : e;
  std::replace(m.weights.begin(), m.weights.end(), penalty_, kInfinity);
  return m;
}

}  // namespace saltus
