// Problems on graphs as models: log p is beta times what is to be large.
#include <fmt/format.h>

#include <cmath>

#include "core/closest_name.hpp"
#include "io/problems/graph.hpp"
#include "io/problems/pair_problem.hpp"
#include "saltus/core/error.hpp"

namespace saltus {
namespace {

constexpr std::uint64_t kMostPairs = 100'000'000, kMostEntries = 200'000'000;

void check_size(std::uint64_t entries, std::uint64_t most, const std::string& problem) {
  if (entries <= most) return;
  throw DataError(
      fmt::format("the problem {} on this graph takes {} numbers; at most {} are possible", problem,
                  entries, most));
}

double penalty_of(const ProblemOptions& options, double usual) {
  return options.penalty.value_or(usual);
}

Model with_objective(const char* name, bool maximise, bool whole, AnyModel value, double beta) {
  Model model;
  model.objective = Objective{name, maximise, beta, whole};
  model.value = std::move(value);
  return model;
}

bool whole_number(double v) {
  return v == std::trunc(v);
}

// The number of edges between the two sides.
Model max_cut(const Graph& graph, const ProblemOptions& options) {
  PairProblem p{true, std::vector<double>(static_cast<std::size_t>(graph.vertices)), {}, 0, {}};
  for (const auto& [u, v] : graph.edges) p.pairs.push_back({u, v, 0.5});
  p.offset = -static_cast<double>(graph.edges.size()) / 2;
  return with_objective("cut", true, true, model_of(std::move(p), options.beta), options.beta);
}

// sum x_i - penalty for each pair of chosen vertices that may not be chosen together.
Model choice(const Graph& graph, std::vector<Coupling> pairs, double penalty,
             const ProblemOptions& options) {
  PairProblem p{false,
                std::vector<double>(static_cast<std::size_t>(graph.vertices), -1.0),
                std::move(pairs),
                0,
                {}};
  return with_objective("size", true, whole_number(penalty), model_of(std::move(p), options.beta),
                        options.beta);
}

Model independent_set(const Graph& graph, const ProblemOptions& options) {
  const double penalty = penalty_of(options, 1.001);
  std::vector<Coupling> pairs;
  for (const auto& [u, v] : graph.edges) pairs.push_back({u, v, penalty});
  return choice(graph, std::move(pairs), penalty, options);
}

Model clique(const Graph& graph, const ProblemOptions& options) {
  const auto n = static_cast<std::uint64_t>(graph.vertices);
  check_size(n * (n - 1) / 2 - graph.edges.size(), kMostPairs, options.problem);
  const double penalty = penalty_of(options, 1.0);
  std::vector<Coupling> pairs;
  auto edge = graph.edges.begin();
  for (int u = 0; u < graph.vertices; ++u) {
    for (int v = u + 1; v < graph.vertices; ++v) {
      const bool joined = edge != graph.edges.end() && *edge == std::pair(u, v);
      joined ? void(++edge) : pairs.push_back({u, v, penalty});
    }
  }
  return choice(graph, std::move(pairs), penalty, options);
}

PottsModel parts_model(const Graph& graph, int parts, std::uint64_t tables,
                       const std::string& problem) {
  const auto q = static_cast<std::uint64_t>(parts), n = static_cast<std::uint64_t>(graph.vertices);
  check_size(tables * q * q + n * q, kMostEntries, problem);
  return {Domain::categorical(graph.vertices, parts), std::vector<double>(n * q), {}};
}

// `same` where two vertices have equal levels, otherwise `other`.
std::vector<double> table_of(int parts, double same, double other) {
  std::vector<double> table(static_cast<std::size_t>(parts) * static_cast<std::size_t>(parts),
                            other);
  for (std::size_t k = 0; k < table.size(); k += static_cast<std::size_t>(parts) + 1)
    table[k] = same;
  return table;
}

int needed(int given, const char* option, const std::string& problem) {
  if (given >= 2 && given <= Domain::kMaxLevels) return given;
  throw UsageError(
      fmt::format("the problem {} needs --{}, a whole number from 2 on", problem, option));
}

// The number of edges with equal ends.
Model colouring(const Graph& graph, const ProblemOptions& options) {
  const int colours = needed(options.colours, "colours", options.problem);
  PottsModel potts = parts_model(graph, colours, graph.edges.size(), options.problem);
  const std::vector<double> table = table_of(colours, -options.beta, 0);
  for (const auto& [u, v] : graph.edges) potts.edges.push_back({u, v, table});
  return with_objective("conflicts", false, true, std::move(potts), options.beta);
}

// 2 x edges between parts + penalty sum over parts (size - n / parts)^2, where the sum is
// n + 2 x pairs in the same part - n^2 / parts.
Model partition(const Graph& graph, const ProblemOptions& options) {
  const int parts = needed(options.parts, "parts", options.problem);
  const double penalty = penalty_of(options, 0.0005), beta = options.beta;
  const auto n = static_cast<std::uint64_t>(graph.vertices);
  PottsModel potts = parts_model(graph, parts, n * (n - 1) / 2, options.problem);
  const double together = -2 * beta * penalty;
  auto edge = graph.edges.begin();
  for (int u = 0; u < graph.vertices; ++u) {
    for (int v = u + 1; v < graph.vertices; ++v) {
      const bool joined = edge != graph.edges.end() && *edge == std::pair(u, v);
      potts.edges.push_back({u, v, table_of(parts, together, joined ? -2 * beta : 0)});
      if (joined) ++edge;
    }
  }
  const double size = graph.vertices;
  potts.constant = -beta * penalty * (size - size * size / parts);
  return with_objective("cost", false, false, std::move(potts), beta);
}

struct GraphProblem {
  const char* name;
  const char* options;  // that it has a use for
  Model (*model)(const Graph&, const ProblemOptions&);
};
constexpr GraphProblem kGraphProblems[] = {{"max-cut", "", max_cut},
                                           {"mis", "penalty", independent_set},
                                           {"max-clique", "penalty", clique},
                                           {"colouring", "colours", colouring},
                                           {"partition", "parts penalty", partition}};

}  // namespace

Model graph_model(const Graph& graph, const ProblemOptions& options) {
  std::vector<std::string> names;
  for (const GraphProblem& problem : kGraphProblems) {
    names.emplace_back(problem.name);
    if (options.problem != problem.name) continue;
    const std::string used = problem.options;
    for (const auto& [option, given] :
         {std::pair<std::string, bool>{"penalty", options.penalty.has_value()},
          {"colours", options.colours != 0},
          {"parts", options.parts != 0}}) {
      if (given && used.find(option) == used.npos) {
        throw UsageError("--" + option + " has no place beside the problem " + options.problem);
      }
    }
    return problem.model(graph, options);
  }
  throw UsageError("the problem '" + options.problem +
                   "' is not known; expected max-cut, mis, max-clique, colouring or partition" +
                   did_you_mean(options.problem, names));
}

}  // namespace saltus
