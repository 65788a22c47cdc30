// Random problems of a known law: graphs, spin glasses and satisfiable formulas. Each is a function
// of its numbers and its seed, the same on every machine.
//
//   const RandomGraph graph = erdos_renyi(1000, 0.01, seed);
//   write_graph("er.col", graph);
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "saltus/model/models.hpp"

namespace saltus {

// Weights of edges: 1; +1 or -1; uniform on (0, 1); normal with mean 0 and variance 1.
enum class EdgeWeights { none, signs, uniform, gaussian };

struct RandomGraph {
  int vertices = 0;
  std::vector<Coupling> edges;  // i < j, each pair once
  bool weighted = false;        // false: all weights are 1
};

// All of these throw UsageError for numbers that make no such graph.

// Each pair of vertices is an edge with probability p.
RandomGraph erdos_renyi(int vertices, double p, std::uint64_t seed,
                        EdgeWeights weights = EdgeWeights::none);
// A star of m + 1 vertices; every further vertex is joined to m others, with probabilities
// proportional to their degrees: m (vertices - m) edges.
RandomGraph barabasi_albert(int vertices, int m, std::uint64_t seed,
                            EdgeWeights weights = EdgeWeights::none);
// Every vertex has this degree (Steger & Wormald 1999: nearly uniform among such graphs).
RandomGraph random_regular(int vertices, int degree, std::uint64_t seed,
                           EdgeWeights weights = EdgeWeights::none);
// Model RB (Xu & Li 2000) at its threshold, with a hidden solution, as a graph: groups of vertices
// that are all joined, and -groups log(size) / log(1 - p) times two groups chosen at random, of
// whose pairs of vertices a part p is joined, never two of the hidden solution. The largest
// independent set has a vertex of each group.
RandomGraph model_rb(int groups, int size, double p, std::uint64_t seed,
                     EdgeWeights weights = EdgeWeights::none);
// All pairs, with weights of either sign; gaussian ones are divided by the root of the number of
// vertices.
RandomGraph sherrington_kirkpatrick(int vertices, std::uint64_t seed,
                                    EdgeWeights weights = EdgeWeights::signs);
// The nearest neighbours of a periodic lattice with equal sides.
RandomGraph lattice_glass(int side, int dimensions, std::uint64_t seed,
                          EdgeWeights weights = EdgeWeights::signs);

// Spins whose energy is the sum of w s s': small where the cut of the graph is large.
IsingModel spin_model(const RandomGraph& graph);

// Clauses of equally many literals, all satisfied by the hidden assignment.
struct PlantedClauses {
  int variables = 0, length = 0;
  std::vector<std::int32_t> literals;  // clause after clause; +v or -v, v from 1 on
  std::vector<Symbol> hidden;

  std::size_t clauses() const { return literals.size() / static_cast<std::size_t>(length); }
  std::span<const std::int32_t> clause(std::size_t c) const {
    return std::span(literals).subspan(c * static_cast<std::size_t>(length),
                                       static_cast<std::size_t>(length));
  }
};

// Each clause is uniform among those that the hidden assignment satisfies. Throws UsageError.
PlantedClauses planted_sat(int variables, int clauses, int length, std::uint64_t seed);

// Writes a graph in the format of the name: .mc, .rud, .rudy (with weights), .col, .clq (without),
// or, as spin_model, .coo, .bqm, .dimod.json and .json. The comment, a line, stands in formats that
// have such. Throws UsageError where the name tells none of these or the weights have no place, and
// FileError.
void write_graph(const std::filesystem::path& path, const RandomGraph& graph,
                 const std::string& comment = "");
// Writes clauses as .cnf.
void write_clauses(const std::filesystem::path& path, const PlantedClauses& clauses,
                   const std::string& comment = "");

}  // namespace saltus
