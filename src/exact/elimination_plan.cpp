#include "exact/elimination_plan.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

namespace saltus {
namespace {

constexpr std::size_t kFewCoordinates = 3000;  // the order by new pairs takes longer to find
// A double for each entry, one for what is passed on, and room to find the best state.
constexpr double kBytesPerEntry = 24;

std::size_t at(std::ptrdiff_t i) {
  return static_cast<std::size_t>(i);
}

using Neighbours = std::vector<std::int32_t>;

bool contains(const Neighbours& sorted, std::int32_t i) {
  return std::binary_search(sorted.begin(), sorted.end(), i);
}

// Eliminates greedily, by a measure of what each coordinate would cost next.
class Greedy {
 public:
  Greedy(const std::vector<int>& levels, const FactorScopes& factors, bool by_new_pairs)
      : levels_(levels), by_new_pairs_(by_new_pairs), adjacent_(levels.size()) {
    for (const auto& scope : factors.scopes) {
      for (const std::int32_t i : scope) {
        Neighbours& list = adjacent_[at(i)];
        list.insert(list.end(), scope.begin(), scope.end());
      }
    }
    for (std::size_t i = 0; i < adjacent_.size(); ++i) {
      Neighbours& list = adjacent_[i];
      std::sort(list.begin(), list.end());
      list.erase(std::unique(list.begin(), list.end()), list.end());
      std::erase(list, static_cast<std::int32_t>(i));
    }
    measure_.resize(levels.size());
    for (std::size_t i = 0; i < levels.size(); ++i) {
      measure_[i] = measure(i);
      queue_.insert({measure_[i], static_cast<std::int32_t>(i)});
    }
  }

  // False where the tables would have more than `most` entries; then `plan` has the width and the
  // entries of the first one that is too large.
  bool run(double most, EliminationPlan& plan) {
    while (!queue_.empty()) {
      const std::int32_t next = queue_.begin()->second;
      const Neighbours clique = std::move(adjacent_[at(next)]);
      plan.width = std::max(plan.width, static_cast<int>(clique.size()));
      const double entries = std::exp2(log_entries(at(next), clique));
      plan.entries += entries;
      if (plan.entries > most) return false;
      queue_.erase(queue_.begin());
      gone(next, clique);
      plan.order.push_back(next);
      plan.neighbours.push_back(clique);
    }
    return true;
  }

 private:
  double log_entries(std::size_t i, const Neighbours& neighbours) const {
    double sum = std::log2(levels_[i]);
    for (const std::int32_t j : neighbours) sum += std::log2(levels_[at(j)]);
    return sum;
  }

  double measure(std::size_t i) const {
    const Neighbours& list = adjacent_[i];
    if (!by_new_pairs_) return log_entries(i, list);
    double missing = 0;
    for (std::size_t a = 0; a < list.size(); ++a) {
      for (std::size_t b = a + 1; b < list.size(); ++b) {
        missing += !contains(adjacent_[at(list[a])], list[b]);
      }
    }
    return missing;
  }

  void measure_again(std::int32_t i) {
    queue_.erase({measure_[at(i)], i});
    measure_[at(i)] = measure(at(i));
    queue_.insert({measure_[at(i)], i});
  }

  // Joins all neighbours of a coordinate that leaves.
  void gone(std::int32_t i, const Neighbours& clique) {
    std::set<std::int32_t> changed(clique.begin(), clique.end());
    for (const std::int32_t j : clique) {
      Neighbours joined;
      std::set_union(adjacent_[at(j)].begin(), adjacent_[at(j)].end(), clique.begin(), clique.end(),
                     std::back_inserter(joined));
      std::erase_if(joined, [&](std::int32_t k) { return k == i || k == j; });
      adjacent_[at(j)] = std::move(joined);
    }
    if (by_new_pairs_) {
      for (const std::int32_t j : clique)
        changed.insert(adjacent_[at(j)].begin(), adjacent_[at(j)].end());
    }
    for (const std::int32_t j : changed) measure_again(j);
  }

  const std::vector<int>& levels_;
  bool by_new_pairs_;
  std::vector<Neighbours> adjacent_;
  std::vector<double> measure_;
  std::set<std::pair<double, std::int32_t>> queue_;
};

[[noreturn]] void refuse(int width, double entries, const EliminationLimits& limits) {
  const auto megabytes = [](double bytes) {
    return std::to_string(static_cast<long long>(std::ceil(bytes / (1 << 20)))) + " MiB";
  };
  const std::string have = megabytes(static_cast<double>(limits.memory));
  const double bytes = entries * kBytesPerEntry;
  const std::string needed = bytes < 1e18 ? " and " + megabytes(bytes) + " or more"
                                          : std::string(" and more memory than there is");
  throw TooWide(
      "the model is too wide for exact answers: eliminating its coordinates takes a table "
      "over " +
      std::to_string(width + 1) + " of them at once" + needed + "; " + have + " are allowed");
}

// The work of each table, given what meets there: what was given, and what comes from others.
void add_work(const FactorScopes& factors, const std::vector<int>& levels, EliminationPlan& plan) {
  std::vector<std::size_t> rank(levels.size());
  for (std::size_t k = 0; k < plan.order.size(); ++k) rank[at(plan.order[k])] = k;
  std::vector<double> functions(levels.size(), 4);  // passes over the table itself
  const auto first = [&](const Neighbours& scope) {
    return *std::ranges::min_element(scope, {}, [&](std::int32_t i) { return rank[at(i)]; });
  };
  for (const auto& scope : factors.scopes) {
    if (!scope.empty()) ++functions[rank[at(first(scope))]];
  }
  for (std::size_t k = 0; k < plan.order.size(); ++k) {
    if (!plan.neighbours[k].empty()) ++functions[rank[at(first(plan.neighbours[k]))]];
  }
  for (std::size_t k = 0; k < plan.order.size(); ++k) {
    double entries = levels[at(plan.order[k])];
    for (const std::int32_t j : plan.neighbours[k]) entries *= levels[at(j)];
    plan.work += entries * functions[k];
  }
}

}  // namespace

FactorScopes scopes_of(const FactorsModel& model) {
  FactorScopes all;
  const auto add = [&](std::vector<std::int32_t> scope) {
    std::erase_if(scope, [&](std::int32_t i) { return model.levels[at(i)] == 1; });
    std::sort(scope.begin(), scope.end());
    scope.erase(std::unique(scope.begin(), scope.end()), scope.end());
    all.scopes.push_back(std::move(scope));
  };
  for (std::size_t t = 0; t < model.tables(); ++t) {
    add({model.scope(t).begin(), model.scope(t).end()});
  }
  for (std::size_t c = 0; c < model.clauses(); ++c) {
    std::vector<std::int32_t> scope;
    for (const auto& literal : model.clause(c)) scope.push_back(literal.coordinate);
    add(std::move(scope));
  }
  return all;
}

EliminationPlan plan_elimination(const std::vector<int>& levels, const FactorScopes& factors,
                                 const EliminationLimits& limits) {
  double most = static_cast<double>(limits.memory) / kBytesPerEntry;
  for (const auto& scope : factors.scopes) {
    double entries = 1;
    for (const std::int32_t i : scope) entries *= levels[at(i)];
    if (entries > most) refuse(static_cast<int>(scope.size()) - 1, entries, limits);
  }
  EliminationPlan plan;
  bool found = Greedy(levels, factors, false).run(most, plan);
  if (levels.size() <= kFewCoordinates) {
    EliminationPlan other;
    if (found) most = plan.entries;
    if (Greedy(levels, factors, true).run(most, other)) {
      plan = std::move(other);
      found = true;
    }
  }
  if (!found) refuse(plan.width, plan.entries, limits);
  add_work(factors, levels, plan);
  if (plan.work > limits.work) throw TooWide("the model takes more work than is allowed");
  return plan;
}

}  // namespace saltus
