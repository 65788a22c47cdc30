// Graphs without weights, and the problems that they pose.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "io/bytes/byte_source.hpp"
#include "saltus/io/model_file.hpp"

namespace saltus {

struct Graph {
  int vertices = 0;
  std::vector<std::pair<int, int>> edges;  // i < j, in increasing order, each once
};

// .col and .clq of DIMACS: "p edge n m", then lines "e u v". Throws DataError.
Graph read_graph(const ByteSource& source);

// The problem that the options name, on the graph. Throws UsageError for options that do not fit,
// and DataError where it would be too large.
Model graph_model(const Graph& graph, const ProblemOptions& options);

}  // namespace saltus
