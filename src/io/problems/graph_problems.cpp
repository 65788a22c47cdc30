// Problems on graphs as models: log p is beta times what is to be large.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/closest_name.hpp"
#include "io/problems/graph.hpp"
#include "io/problems/pair_problem.hpp"
#include "saltus/core/error.hpp"

namespace saltus {
namespace {

constexpr std::uint64_t kMostPairs = 100'000'000, kMostEntries = 200'000'000;
// Up to so many pairs are always listed: other formats hold such models, and elimination knows
// them.
constexpr std::uint64_t kFewPairs = 10'000;

using GraphOwner = std::shared_ptr<const Graph>;

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

Model with_problem(Model model, std::shared_ptr<const Problem> problem) {
  model.problem = std::move(problem);
  return model;
}

bool whole_number(double v) {
  return v == std::trunc(v);
}

std::uint64_t pairs_in(const Graph& graph) {
  const auto n = static_cast<std::uint64_t>(graph.vertices);
  return n * (n - 1) / 2;
}

std::vector<Coupling> edges_of(const Graph& graph) {
  std::vector<Coupling> edges;
  for (std::size_t e = 0; e < graph.edges.size(); ++e) {
    edges.push_back({graph.edges[e].first, graph.edges[e].second, graph.weight(e)});
  }
  return edges;
}

void refuse_weights(const Graph& graph, const std::string& problem) {
  for (std::size_t e = 0; e < graph.edges.size(); ++e) {
    if (graph.weight(e) == 1) continue;
    throw DataError(fmt::format(
        "{}: the problem {} has no use for weights, but the edge {} {} has the weight {}; "
        "expected 1",
        graph.name, problem, graph.edges[e].first + 1, graph.edges[e].second + 1, graph.weight(e)));
  }
}

// The weight of the edges between the two sides.
Model max_cut(const GraphOwner& graph, const ProblemOptions& options) {
  PairProblem p{true,
                std::vector<double>(static_cast<std::size_t>(graph->vertices)),
                edges_of(*graph),
                0,
                {}};
  double sum = 0;
  for (Coupling& c : p.pairs) sum += c.weight, c.weight /= 2;
  p.offset = -sum / 2;
  return with_objective("cut", true, std::ranges::all_of(graph->weights, whole_number),
                        model_of(std::move(p), options.beta), options.beta);
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

Model independent_set(const GraphOwner& graph, const ProblemOptions& options) {
  refuse_weights(*graph, options.problem);
  const double penalty = penalty_of(options, 1.001);
  std::vector<Coupling> pairs = edges_of(*graph);
  for (Coupling& c : pairs) c.weight = penalty;
  return with_problem(choice(*graph, std::move(pairs), penalty, options),
                      independent_set_problem(graph));
}

// With k chosen vertices and e edges among them, k - penalty (k (k - 1) / 2 - e).
Model sparse_clique(const Graph& graph, double penalty, const ProblemOptions& options) {
  GraphModel m{graph.vertices,   2, edges_of(graph), {0, 0, 0, penalty}, {0, 1 + penalty / 2},
               {0, -penalty / 2}};
  return with_objective("size", true, whole_number(penalty), scaled(std::move(m), options.beta),
                        options.beta);
}

// Whether there are so many more pairs that no edge joins than edges that it pays to count instead
// of listing them, which vector code goes through faster.
bool better_by_counts(const Graph& graph) {
  const std::uint64_t pairs = pairs_in(graph) - graph.edges.size();
  return pairs > kFewPairs && pairs > 4 * graph.edges.size();
}

Model listed_clique(const Graph& graph, double penalty, const ProblemOptions& options) {
  check_size(pairs_in(graph) - graph.edges.size(), kMostPairs, options.problem);
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

Model clique(const GraphOwner& graph, const ProblemOptions& options) {
  refuse_weights(*graph, options.problem);
  const double penalty = penalty_of(options, 1.0);
  return with_problem(better_by_counts(*graph) ? sparse_clique(*graph, penalty, options)
                                               : listed_clique(*graph, penalty, options),
                      clique_problem(graph));
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
Model colouring(const GraphOwner& graph, const ProblemOptions& options) {
  refuse_weights(*graph, options.problem);
  const int colours = needed(options.colours, "colours", options.problem);
  PottsModel potts = parts_model(*graph, colours, graph->edges.size(), options.problem);
  const std::vector<double> table = table_of(colours, -options.beta, 0);
  for (const auto& [u, v] : graph->edges) potts.edges.push_back({u, v, table});
  return with_problem(with_objective("conflicts", false, true, std::move(potts), options.beta),
                      colouring_problem(graph, colours));
}

// 2 x edges between parts + penalty sum over parts (size - n / parts)^2.
Model sparse_partition(const Graph& graph, int parts, double penalty, double beta) {
  const auto k = static_cast<std::size_t>(parts);
  check_size(k * k, kMostEntries, "partition");
  GraphModel m{graph.vertices,
               parts,
               edges_of(graph),
               table_of(parts, 0, -2),
               std::vector<double>(k),
               std::vector<double>(k, -penalty),
               static_cast<double>(graph.vertices) / parts};
  return with_objective("cost", false, false, scaled(std::move(m), beta), beta);
}

// The same, where the sum is n + 2 x pairs in the same part - n^2 / parts.
Model listed_partition(const Graph& graph, int parts, double penalty, double beta) {
  PottsModel potts = parts_model(graph, parts, pairs_in(graph), "partition");
  const double together = -2 * beta * penalty;
  auto edge = graph.edges.begin();
  for (int u = 0; u < graph.vertices; ++u) {
    for (int v = u + 1; v < graph.vertices; ++v) {
      const bool joined = edge != graph.edges.end() && *edge == std::pair(u, v);
      const double weight =
          joined ? graph.weight(static_cast<std::size_t>(edge - graph.edges.begin())) : 0;
      potts.edges.push_back({u, v, table_of(parts, together, joined ? -2 * beta * weight : 0)});
      if (joined) ++edge;
    }
  }
  const double size = graph.vertices;
  potts.constant = -beta * penalty * (size - size * size / parts);
  return with_objective("cost", false, false, std::move(potts), beta);
}

Model partition(const GraphOwner& graph, const ProblemOptions& options) {
  const int parts = needed(options.parts, "parts", options.problem);
  const double penalty = penalty_of(options, 0.0005);
  return with_problem(pairs_in(*graph) > kFewPairs
                          ? sparse_partition(*graph, parts, penalty, options.beta)
                          : listed_partition(*graph, parts, penalty, options.beta),
                      partition_problem(graph, parts));
}

struct GraphProblem {
  const char* name;
  const char* options;  // that it has a use for
  Model (*model)(const GraphOwner&, const ProblemOptions&);
};
constexpr GraphProblem kGraphProblems[] = {{"max-cut", "", max_cut},
                                           {"mis", "penalty", independent_set},
                                           {"max-clique", "penalty", clique},
                                           {"colouring", "colours", colouring},
                                           {"partition", "parts penalty", partition}};

}  // namespace

Model graph_model(Graph graph, const ProblemOptions& options) {
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
    return problem.model(std::make_shared<const Graph>(std::move(graph)), options);
  }
  throw UsageError("the problem '" + options.problem +
                   "' is not known; expected max-cut, mis, max-clique, colouring or partition" +
                   did_you_mean(options.problem, names));
}

}  // namespace saltus
