// Generated problems as files.
#include <fmt/format.h>

#include <algorithm>

#include "io/bytes/byte_file.hpp"
#include "io/bytes/words.hpp"
#include "saltus/core/error.hpp"
#include "saltus/generate.hpp"
#include "saltus/io/model_file.hpp"

namespace saltus {
namespace {

namespace fs = std::filesystem;

std::string comment_line(const std::string& comment) {
  return comment.empty() ? "" : "c " + comment + "\n";
}

// Other programs that read these files know no comments in them.
void write_weighted(const fs::path& path, const RandomGraph& graph) {
  replace_file(path, [&](OutputFile& file) {
    file.append(fmt::format("{} {}\n", graph.vertices, graph.edges.size()));
    for (const Coupling& e : graph.edges)
      file.append(fmt::format("{} {} {}\n", e.i + 1, e.j + 1, e.weight));
  });
}

void write_dimacs(const fs::path& path, const RandomGraph& graph, const std::string& comment) {
  if (graph.weighted) {
    throw UsageError(path.string() +
                     ": graphs of DIMACS have no weights; expected a name that ends in .mc, .coo, "
                     ".bqm, .dimod.json or .json");
  }
  replace_file(path, [&](OutputFile& file) {
    file.append(comment_line(comment));
    file.append(fmt::format("p edge {} {}\n", graph.vertices, graph.edges.size()));
    for (const Coupling& e : graph.edges) file.append(fmt::format("e {} {}\n", e.i + 1, e.j + 1));
  });
}

}  // namespace

void write_graph(const fs::path& path, const RandomGraph& graph, const std::string& comment) {
  const std::string name = lower_cased(path.filename().string());
  const auto ends = [&](auto... endings) { return (name.ends_with(endings) || ...); };
  if (ends(".mc", ".rud", ".rudy")) return write_weighted(path, graph);
  if (ends(".col", ".clq")) return write_dimacs(path, graph, comment);
  if (ends(".coo", ".bqm", ".dimod.json")) {
    write_problem(path, spin_model(graph));
    return;
  }
  if (ends(".json")) return write_model(path, spin_model(graph));
  throw UsageError("the name " + path.string() +
                   " tells no format of graphs; expected one that ends in .mc, .rud, .rudy, .col, "
                   ".clq, .coo, .bqm, .dimod.json or .json");
}

void write_clauses(const fs::path& path, const PlantedClauses& clauses,
                   const std::string& comment) {
  if (!lower_cased(path.filename().string()).ends_with(".cnf")) {
    throw UsageError("the name " + path.string() +
                     " tells no format of clauses; expected one that ends in .cnf");
  }
  replace_file(path, [&](OutputFile& file) {
    file.append(comment_line(comment));
    file.append(fmt::format("p cnf {} {}\n", clauses.variables, clauses.clauses()));
    for (std::size_t c = 0; c < clauses.clauses(); ++c) {
      std::string line;
      for (const std::int32_t literal : clauses.clause(c)) line += fmt::format("{} ", literal);
      file.append(line + "0\n");
    }
  });
}

}  // namespace saltus
