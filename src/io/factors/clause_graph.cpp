// Clauses as a graph: a vertex for each literal of each clause, edges between all literals of a
// clause and between opposite literals. An independent set chooses literals that can hold together,
// at most one of each clause: one has as many vertices as there are clauses just where all of them
// can be satisfied (Karp 1972).
#include <fmt/format.h>

#include <algorithm>

#include "io/problems/graph.hpp"
#include "saltus/core/error.hpp"

namespace saltus {
namespace {

constexpr std::uint64_t kMostClauseEdges = 100'000'000;

using Vertices = std::vector<int>;

void add_edge(Graph& graph, int u, int v) {
  if (graph.edges.size() == kMostClauseEdges) {
    throw DataError(fmt::format("{}: the graph of the clauses has more than {} edges", graph.name,
                                kMostClauseEdges));
  }
  graph.edges.emplace_back(std::min(u, v), std::max(u, v));
}

}  // namespace

Graph graph_of_clauses(const FactorsModel& clauses, const std::string& name) {
  Graph graph;
  graph.name = name;
  std::vector<Vertices> holding(2 * clauses.levels.size());  // of each literal
  for (std::size_t c = 0; c < clauses.clauses(); ++c) {
    const int first = graph.vertices;
    const auto literals = clauses.clause(c);
    for (auto literal = literals.begin(); literal != literals.end(); ++literal) {
      if (std::find(literals.begin(), literal, *literal) != literal) continue;  // counts once
      const int v = graph.vertices++;
      for (int u = first; u < v; ++u) add_edge(graph, u, v);
      holding[2 * static_cast<std::size_t>(literal->coordinate) + literal->level].push_back(v);
    }
  }
  if (graph.vertices == 0) throw DataError(name + ": its clauses have no literals");
  for (std::size_t l = 0; l < holding.size(); l += 2) {
    for (const int u : holding[l]) {
      for (const int v : holding[l + 1]) add_edge(graph, u, v);
    }
  }
  std::ranges::sort(graph.edges);
  graph.edges.erase(std::unique(graph.edges.begin(), graph.edges.end()), graph.edges.end());
  return graph;
}

}  // namespace saltus
