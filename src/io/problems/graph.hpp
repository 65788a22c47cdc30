// Graphs, and the problems that they pose.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "io/bytes/byte_source.hpp"
#include "saltus/io/model_file.hpp"
#include "saltus/model/problem.hpp"

namespace saltus {

struct Graph {
  int vertices = 0;
  std::vector<std::pair<int, int>> edges;  // i < j, in increasing order, each once
  std::vector<double> weights;             // one for each edge; empty: all are 1
  std::string name;                        // of its file

  double weight(std::size_t edge) const { return weights.empty() ? 1 : weights[edge]; }
};

// .col and .clq of DIMACS: "p edge n m", then lines "e u v". Throws DataError.
Graph read_graph(const ByteSource& source);

// Three vertices for a clause of three literals: an independent set with as many vertices as there
// are clauses is an assignment that satisfies them. Throws DataError.
Graph graph_of_clauses(const FactorsModel& clauses, const std::string& name);

// The problem that the options name, on the graph. Throws UsageError for options that do not fit,
// and DataError where it would be too large, or where the problem has no use for the weights.
Model graph_model(Graph graph, const ProblemOptions& options);

// What states of these problems mean: x_v is 1 for the vertices that are chosen, or the part or the
// colour of v.
std::shared_ptr<const Problem> independent_set_problem(std::shared_ptr<const Graph> graph);
std::shared_ptr<const Problem> clique_problem(std::shared_ptr<const Graph> graph);
std::shared_ptr<const Problem> colouring_problem(std::shared_ptr<const Graph> graph, int colours);
std::shared_ptr<const Problem> partition_problem(std::shared_ptr<const Graph> graph, int parts);

}  // namespace saltus
