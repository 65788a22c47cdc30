// Elimination on a tree of tables (Dechter 1999; Lauritzen & Spiegelhalter 1988). Coordinate i is
// eliminated from a table over itself and its neighbours N at that time, the sum of all functions
// that concern it; its log-sum-exp over i, a function of N, is passed on to the table of the first
// of N to be eliminated. On the way back,
//
//   P(i, N) = P(N) exp(table - passed on),
//
// with P(N) a marginal of the table it was passed to: probabilities, which are never divided.
#include <algorithm>
#include <cmath>
#include <limits>

#include "exact/elimination_plan.hpp"
#include "saltus/core/error.hpp"

namespace saltus {
namespace {

constexpr double kImpossible = -std::numeric_limits<double>::infinity();

std::size_t at(std::ptrdiff_t i) {
  return static_cast<std::size_t>(i);
}

// A function of some coordinates as a table, the last one fastest.
struct Table {
  std::vector<std::int32_t> scope;
  std::vector<double> values;
};

// Goes through all entries of a table in order, along with the entry of another table over a part
// of its coordinates.
class Walk {
 public:
  Walk(const std::vector<int>& levels, const std::vector<std::int32_t>& scope,
       const std::vector<std::int32_t>& part)
      : steps_(scope.size()), counts_(scope.size()), digits_(scope.size()) {
    for (std::size_t d = 0; d < scope.size(); ++d) counts_[d] = at(levels[at(scope[d])]);
    std::size_t stride = 1;
    for (std::size_t p = part.size(); p-- > 0;) {
      const auto place = std::find(scope.begin(), scope.end(), part[p]);
      steps_[at(place - scope.begin())] = stride;
      stride *= at(levels[at(part[p])]);
    }
  }

  // work(entry of the whole, entry of the part)
  template <class Work>
  void go(std::size_t entries, Work work) {
    if (counts_.empty()) return work(0, 0);
    const std::size_t last = counts_.size() - 1, step = steps_[last];
    std::size_t other = 0;
    for (std::size_t entry = 0; entry < entries;) {
      for (std::size_t k = 0; k < counts_[last]; ++k, ++entry) work(entry, other + k * step);
      for (std::size_t d = last; d-- > 0;) {
        other += steps_[d];
        if (++digits_[d] < counts_[d]) break;
        other -= steps_[d] * counts_[d];
        digits_[d] = 0;
      }
    }
  }

 private:
  std::vector<std::size_t> steps_, counts_, digits_;
};

// A clause as a table over its coordinates.
Table table_of_clause(const FactorsModel& model, std::size_t c,
                      const std::vector<std::int32_t>& scope) {
  Table table{scope, {}};
  std::size_t entries = 1;
  for (const std::int32_t i : scope) entries *= at(model.levels[at(i)]);
  table.values.assign(entries, -model.weights[c]);
  for (const auto& literal : model.clause(c)) {
    if (model.levels[at(literal.coordinate)] == 1) {  // always holds
      std::fill(table.values.begin(), table.values.end(), 0.0);
      break;
    }
    const std::vector<std::int32_t> own{literal.coordinate};
    Walk(model.levels, scope, own).go(entries, [&](std::size_t entry, std::size_t level) {
      if (level == literal.level) table.values[entry] = 0;
    });
  }
  return table;
}

class Elimination {
 public:
  Elimination(const FactorsModel& model, const FactorScopes& scopes, const EliminationPlan& plan)
      : model_(model), plan_(plan), rank_(model.levels.size()), given_(plan.order.size()) {
    for (std::size_t k = 0; k < plan.order.size(); ++k) rank_[at(plan.order[k])] = k;
    constant_ = model.constant;
    for (std::size_t f = 0; f < scopes.scopes.size(); ++f) {
      const std::vector<std::int32_t>& scope = scopes.scopes[f];
      const bool clause = f >= model.tables();
      if (!scope.empty()) {
        given_[first_rank(scope)].push_back(f);
      } else if (clause) {
        constant_ += table_of_clause(model, f - model.tables(), {}).values[0];
      } else {
        constant_ += model.table(f)[0];
      }
    }
  }

  void find_best(EliminationAnswer& answer) {
    start_passing();
    best_level_.resize(plan_.order.size());
    answer.best_logp = constant_;
    for (std::size_t k = 0; k < plan_.order.size(); ++k) {
      const Table sum = gather(k);
      const std::size_t levels = levels_at(k), entries = sum.values.size() / levels;
      Table best{others(k), std::vector<double>(entries)};
      best_level_[k].resize(entries);
      for (std::size_t e = 0; e < entries; ++e) {
        const auto begin = sum.values.begin() + static_cast<std::ptrdiff_t>(e * levels);
        const auto largest = std::max_element(begin, begin + static_cast<std::ptrdiff_t>(levels));
        best.values[e] = *largest;
        best_level_[k][e] = static_cast<Symbol>(largest - begin);
      }
      pass_on(std::move(best), answer.best_logp);
    }
    answer.best.resize(model_.levels.size());
    for (std::size_t k = plan_.order.size(); k-- > 0;) {
      std::size_t entry = 0;
      for (const std::int32_t j : others(k)) {
        entry = entry * at(model_.levels[at(j)]) + answer.best[at(j)];
      }
      answer.best[at(plan_.order[k])] = best_level_[k][entry];
    }
    best_level_.clear();
  }

  void add_up(EliminationAnswer& answer) {
    start_passing();
    const std::size_t count = plan_.order.size();
    tables_.resize(count);
    answer.log_z = constant_;
    for (std::size_t k = 0; k < count; ++k) {
      tables_[k] = gather(k);
      pass_on(normalise(k), answer.log_z);
    }
    std::size_t total = 0;
    std::vector<std::size_t> begin;
    for (const int l : model_.levels) begin.push_back(total), total += at(l);
    answer.probabilities.resize(total);
    for (std::size_t k = count; k-- > 0;) {
      multiply_by_parent(k);
      const std::size_t levels = levels_at(k);
      double* own = answer.probabilities.data() + begin[at(plan_.order[k])];
      for (std::size_t e = 0; e < tables_[k].values.size(); ++e) {
        own[e % levels] += tables_[k].values[e];
      }
    }
  }

 private:
  std::size_t levels_at(std::size_t k) const { return at(model_.levels[at(plan_.order[k])]); }

  std::size_t first_rank(const std::vector<std::int32_t>& scope) const {
    std::size_t first = rank_[at(scope[0])];
    for (const std::int32_t i : scope) first = std::min(first, rank_[at(i)]);
    return first;
  }

  // The neighbours, last eliminated first: all tables list their coordinates so.
  std::vector<std::int32_t> others(std::size_t k) const {
    std::vector<std::int32_t> scope = plan_.neighbours[k];
    std::ranges::sort(scope, std::greater<>(), [&](std::int32_t i) { return rank_[at(i)]; });
    return scope;
  }

  void start_passing() {
    passed_.clear();
    passed_.resize(plan_.order.size());
  }

  void add(Table& sum, const std::vector<std::int32_t>& scope,
           std::span<const double> values) const {
    Walk(model_.levels, sum.scope, scope)
        .go(sum.values.size(),
            [&](std::size_t entry, std::size_t other) { sum.values[entry] += values[other]; });
  }

  // The sum of all functions that concern order[k] and none before it. Forgets what was passed on.
  Table gather(std::size_t k) {
    Table sum{others(k), {}};
    sum.scope.push_back(plan_.order[k]);
    std::size_t entries = 1;
    for (const std::int32_t i : sum.scope) entries *= at(model_.levels[at(i)]);
    sum.values.resize(entries);
    for (const std::size_t f : given_[k]) {
      if (f >= model_.tables()) {
        std::vector<std::int32_t> scope;
        for (const auto& l : model_.clause(f - model_.tables())) {
          if (model_.levels[at(l.coordinate)] > 1) scope.push_back(l.coordinate);
        }
        std::sort(scope.begin(), scope.end());
        scope.erase(std::unique(scope.begin(), scope.end()), scope.end());
        const Table clause = table_of_clause(model_, f - model_.tables(), scope);
        add(sum, clause.scope, clause.values);
        continue;
      }
      std::vector<std::int32_t> scope(model_.scope(f).begin(), model_.scope(f).end());
      std::erase_if(scope, [&](std::int32_t i) { return model_.levels[at(i)] == 1; });
      add(sum, scope, model_.table(f));
    }
    for (Table& message : passed_[k]) {
      add(sum, message.scope, message.values);
      message = {};
    }
    passed_[k].clear();
    return sum;
  }

  void pass_on(Table message, double& total) {
    if (message.scope.empty()) {
      total += message.values[0];
      return;
    }
    passed_[first_rank(message.scope)].push_back(std::move(message));
  }

  // The log-sum-exp over order[k]; the table becomes the probabilities given the neighbours.
  Table normalise(std::size_t k) {
    std::vector<double>& values = tables_[k].values;
    const std::size_t levels = levels_at(k);
    Table sums{others(k), std::vector<double>(values.size() / levels)};
    for (std::size_t e = 0; e < sums.values.size(); ++e) {
      double* row = values.data() + e * levels;
      const double top = *std::max_element(row, row + levels);
      double sum = 0;
      for (std::size_t l = 0; l < levels; ++l) {
        row[l] = top == kImpossible ? 0 : std::exp(row[l] - top);
        sum += row[l];
      }
      for (std::size_t l = 0; sum > 0 && l < levels; ++l) row[l] /= sum;
      sums.values[e] = top == kImpossible ? kImpossible : top + std::log(sum);
    }
    return sums;
  }

  // From the probabilities given the neighbours to those of all.
  void multiply_by_parent(std::size_t k) {
    const std::vector<std::int32_t> scope = others(k);
    if (scope.empty()) return;
    const std::size_t levels = levels_at(k);
    const Table& parent = tables_[first_rank(scope)];
    std::vector<double> marginal(tables_[k].values.size() / levels);
    Walk(model_.levels, parent.scope, scope)
        .go(parent.values.size(),
            [&](std::size_t entry, std::size_t other) { marginal[other] += parent.values[entry]; });
    for (std::size_t e = 0; e < tables_[k].values.size(); ++e) {
      tables_[k].values[e] *= marginal[e / levels];
    }
  }

  const FactorsModel& model_;
  const EliminationPlan& plan_;
  double constant_ = 0;
  std::vector<std::size_t> rank_;                // of each coordinate in the order
  std::vector<std::vector<std::size_t>> given_;  // the factors that are added at each rank
  std::vector<std::vector<Table>> passed_;       // and what earlier ranks pass on
  std::vector<Table> tables_;
  std::vector<std::vector<Symbol>> best_level_;  // of order[k], given its neighbours
};

}  // namespace

EliminationAnswer eliminate(const FactorsModel& model, const EliminationLimits& limits) {
  const FactorScopes scopes = scopes_of(model);
  const EliminationPlan plan = plan_elimination(model.levels, scopes, limits);
  EliminationAnswer answer;
  answer.width = plan.width;
  answer.entries = static_cast<std::size_t>(plan.entries);
  Elimination work(model, scopes, plan);
  work.find_best(answer);
  if (answer.best_logp == kImpossible) {
    answer.log_z = kImpossible;
    answer.best.clear();
    return answer;
  }
  work.add_up(answer);
  return answer;
}

std::optional<ExactAnswer> quick_elimination(const Target& target) {
  constexpr EliminationLimits kQuick{std::size_t{1} << 28, 3e7};
  constexpr int kMostCoordinates = 20'000;
  const Domain& domain = target.domain();
  const LocalMoves* moves = target.local_moves();
  if (domain.dim() > kMostCoordinates || domain.unbounded()) return std::nullopt;
  // A table over so many coordinates and itself has 2^30 entries.
  std::vector<std::int32_t> room(moves ? at(moves->max_neighbours()) : 0);
  std::size_t ends = 0;
  for (int i = 0; moves && i < domain.dim(); ++i) {
    ends += moves->neighbours(i, room.data()).size();
    if (ends > 60 * at(domain.dim())) return std::nullopt;
  }
  const std::optional<FactorsModel> graph = factor_graph(target);
  if (!graph) return std::nullopt;
  try {
    const EliminationAnswer found = eliminate(*graph, kQuick);
    if (found.best.empty()) return std::nullopt;
    ExactAnswer answer{found.log_z, std::vector<double>(at(domain.dim()))};
    if (domain.kind() == Domain::Kind::categorical) answer.classes = found.probabilities;
    std::size_t next = 0;
    for (int i = 0; i < domain.dim(); ++i) {
      for (int l = 0; l < domain.levels(i); ++l) {
        answer.means[at(i)] += domain.value(l) * found.probabilities[next++];
      }
    }
    return answer;
  } catch (const TooWide&) {
    return std::nullopt;
  }
}

}  // namespace saltus
