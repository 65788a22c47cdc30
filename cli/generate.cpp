// saltus generate: random graphs, spin glasses and formulas as files.
#include "saltus/generate.hpp"

#include <functional>
#include <map>
#include <memory>

#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "cli/run_files.hpp"
#include "cli/terminal.hpp"
#include "cli/text.hpp"

namespace saltus::cli {
namespace {

const std::map<std::string, EdgeWeights> kWeights = {{"none", EdgeWeights::none},
                                                     {"pm", EdgeWeights::signs},
                                                     {"uniform", EdgeWeights::uniform},
                                                     {"gaussian", EdgeWeights::gaussian}};

struct GenerateOptions {
  int n = 0, clauses = 0, dimensions = 2;
  int degree = 0;  // or edges of a new vertex, vertices of a group, literals of a clause
  double p = 0;
  std::string weights = "none", seed = "1", out;

  EdgeWeights edge_weights() const { return kWeights.at(weights); }
};

CLI::Option* add_whole(CLI::App& command, const char* name, int& value, const std::string& text,
                       int least = 1) {
  return command.add_option(name, value, text)
      ->required()
      ->transform(whole_number(least, 1'000'000'000));
}

void add_out(CLI::App& command, GenerateOptions& o, const char* text) {
  command.add_option("OUT", o.out, text)->required();
  add_seed(command, o.seed);
}

// A subcommand that makes graphs; `numbers` adds its arguments.
void add_graphs(CLI::App& parent, const char* name, const char* summary, const char* weights,
                const std::function<void(CLI::App&, GenerateOptions&)>& numbers,
                const std::function<RandomGraph(const GenerateOptions&, std::uint64_t)>& make) {
  CLI::App* command = parent.add_subcommand(name, summary);
  auto o = std::make_shared<GenerateOptions>();
  o->weights = weights;
  numbers(*command, *o);
  add_out(*command, *o,
          "File to write: .mc or .rud (a graph with weights), .col or .clq (without); .coo, .bqm, "
          ".dimod.json or .json (spins whose energy is small where the cut is large)");
  add_default(*command, "--weights", o->weights,
              "Weights of the edges: none (all 1), pm (+1 or -1), uniform (0 to 1) or gaussian")
      ->type_name("")
      ->check(CLI::IsMember(kWeights));
  command->callback([o, make] {
    FileRoles().writes("OUT", o->out);
    const RandomGraph graph = make(*o, parse_seed(o->seed));
    write_graph(o->out, graph, command_line());
    show("{}: {} vertices, {} edges\n", o->out, count(graph.vertices), count(graph.edges.size()));
  });
}

void add_sat(CLI::App& parent) {
  CLI::App* command = parent.add_subcommand(
      "sat", "Clauses that a hidden assignment satisfies, uniform among such");
  auto o = std::make_shared<GenerateOptions>();
  add_whole(*command, "N", o->n, "Variables");
  add_whole(*command, "M", o->clauses, "Clauses", 0);
  add_whole(*command, "K", o->degree, "Literals of a clause");
  add_out(*command, *o, "File to write: .cnf");
  command->callback([o] {
    FileRoles().writes("OUT", o->out);
    const PlantedClauses made = planted_sat(o->n, o->clauses, o->degree, parse_seed(o->seed));
    write_clauses(o->out, made, command_line());
    show("{}: {} variables, {} clauses\n", o->out, count(made.variables), count(made.clauses()));
  });
}

}  // namespace

void add_generate(CLI::App& program, int&) {
  CLI::App* command = program.add_subcommand(
      "generate", "Write a random graph, spin glass or formula, the same for a seed everywhere");
  command->require_subcommand(1);
  add_graphs(
      *command, "er", "Each pair of vertices is an edge with probability P (Erdos and Renyi)",
      "none",
      [](CLI::App& c, GenerateOptions& o) {
        add_whole(c, "N", o.n, "Vertices");
        c.add_option("P", o.p, "Probability of an edge")->required()->check(finite_number(0));
      },
      [](const auto& o, auto seed) { return erdos_renyi(o.n, o.p, seed, o.edge_weights()); });
  add_graphs(
      *command, "ba", "New vertices are joined to M others, by their degrees (Barabasi and Albert)",
      "none",
      [](CLI::App& c, GenerateOptions& o) {
        add_whole(c, "N", o.n, "Vertices");
        add_whole(c, "M", o.degree, "Edges of each new vertex");
      },
      [](const auto& o, auto seed) {
        return barabasi_albert(o.n, o.degree, seed, o.edge_weights());
      });
  add_graphs(
      *command, "regular", "Every vertex has degree D", "none",
      [](CLI::App& c, GenerateOptions& o) {
        add_whole(c, "N", o.n, "Vertices");
        add_whole(c, "D", o.degree, "Degree", 0);
      },
      [](const auto& o, auto seed) {
        return random_regular(o.n, o.degree, seed, o.edge_weights());
      });
  add_graphs(
      *command, "rb",
      "N groups of D vertices, all joined, and pairs between groups by Model RB: the largest "
      "independent set has N vertices",
      "none",
      [](CLI::App& c, GenerateOptions& o) {
        add_whole(c, "N", o.n, "Groups");
        add_whole(c, "D", o.degree, "Vertices of a group");
        c.add_option("P", o.p, "Part of the pairs of two groups that is joined where they meet")
            ->required()
            ->check(finite_number(0));
      },
      [](const auto& o, auto seed) {
        return model_rb(o.n, o.degree, o.p, seed, o.edge_weights());
      });
  add_graphs(
      *command, "sk",
      "All pairs are coupled (Sherrington and Kirkpatrick); gaussian weights are divided by the "
      "root of N",
      "pm", [](CLI::App& c, GenerateOptions& o) { add_whole(c, "N", o.n, "Spins"); },
      [](const auto& o, auto seed) {
        return sherrington_kirkpatrick(o.n, seed, o.edge_weights());
      });
  add_graphs(
      *command, "lattice", "Neighbours on a periodic lattice with equal sides are coupled", "pm",
      [](CLI::App& c, GenerateOptions& o) {
        add_whole(c, "L", o.n, "Sites of a side");
        add_default(c, "--dimensions", o.dimensions, "Sides of the lattice", whole_number(1, 20));
      },
      [](const auto& o, auto seed) {
        return lattice_glass(o.n, o.dimensions, seed, o.edge_weights());
      });
  add_sat(*command);
}

}  // namespace saltus::cli
