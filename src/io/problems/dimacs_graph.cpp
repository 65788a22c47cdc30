// Graphs of DIMACS, .col and .clq.
#include <fmt/format.h>

#include <algorithm>

#include "io/problems/formats.hpp"
#include "io/problems/graph.hpp"
#include "io/problems/problem_text.hpp"
#include "saltus/core/error.hpp"

namespace saltus {

Graph read_graph(const ByteSource& source) {
  ProblemText text(source);
  Graph graph;
  graph.name = source.name;
  std::uint64_t announced = 0, lines = 0;
  while (text.next_line()) {
    if (text.line().front() == 'c') continue;
    const auto words = text.words();
    if (words[0] == "p") {
      if (graph.vertices > 0) text.refuse("a second line p");
      if (words.size() != 4 || (words[1] != "edge" && words[1] != "col")) {
        text.refuse("expected 'p edge vertices edges', not " + in_quotes(text.line()));
      }
      graph.vertices =
          static_cast<int>(text.whole(words[2], "the number of vertices", 1, 100'000'000));
      announced = static_cast<std::uint64_t>(
          text.whole(words[3], "the number of edges", 0, std::int64_t{1} << 40));
      graph.edges.reserve(text.room_for(announced, 6));
      continue;
    }
    if (words[0] != "e") {
      text.refuse("the line begins with " + in_quotes(words[0]) +
                  "; graphs are read that have lines c, p and e alone, so no weights");
    }
    if (graph.vertices == 0) text.refuse("an edge before the line 'p edge vertices edges'");
    if (words.size() != 3) {
      text.refuse(fmt::format("expected 'e u v', but the line has {} words", words.size()));
    }
    const auto u = static_cast<int>(text.whole(words[1], "a vertex", 1, graph.vertices)) - 1;
    const auto v = static_cast<int>(text.whole(words[2], "a vertex", 1, graph.vertices)) - 1;
    if (u == v) text.refuse(fmt::format("the edge joins vertex {} to itself", u + 1));
    graph.edges.emplace_back(std::min(u, v), std::max(u, v));
    ++lines;
  }
  if (graph.vertices == 0) text.refuse_file("it has no line 'p edge vertices edges'");
  std::ranges::sort(graph.edges);
  graph.edges.erase(std::unique(graph.edges.begin(), graph.edges.end()), graph.edges.end());
  const bool agrees =
      announced == lines || announced == graph.edges.size() || lines == 2 * announced;
  if (!agrees) {
    text.refuse(fmt::format("the file ends after {} lines e with {} edges; its line p announces {}",
                            lines, graph.edges.size(), announced));
  }
  return graph;
}

Model read_dimacs_graph(const ByteSource& source, const ProblemOptions& options) {
  if (options.problem.empty()) {
    throw DataError(source.name +
                    ": it is a graph, which has no energy of its own: name a problem (--problem), "
                    "max-cut, mis, "
                    "max-clique, colouring or partition");
  }
  return graph_model(read_graph(source), options);
}

}  // namespace saltus
