// saltus exact: log Z, probabilities and the best state of a model of low width, without sampling.
#include "saltus/exact.hpp"

#include <algorithm>
#include <cmath>

#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "cli/terminal.hpp"
#include "cli/text.hpp"
#include "saltus/core/error.hpp"
#include "saltus/io/model_file.hpp"

namespace saltus::cli {
namespace {

constexpr int kMostShown = 20;  // coordinates

struct ExactOptions {
  ModelRequest model;
  std::string memory = "1GiB";
  bool json = false;
};

std::size_t bytes_of(const std::string& text) {
  std::size_t end = 0;
  double number = 0;
  try {
    number = std::stod(text, &end);
  } catch (const std::exception&) {
    end = 0;
  }
  const std::string unit = text.substr(std::min(end, text.size()));
  const double factor = unit.empty() || unit == "B"    ? 1
                        : unit == "MiB" || unit == "M" ? 0x1p20
                        : unit == "GiB" || unit == "G" ? 0x1p30
                                                       : 0;
  if (end == 0 || factor == 0 || !(number * factor >= 1 && number * factor < 0x1p50)) {
    throw UsageError("--memory is " + text + "; write a number with MiB or GiB, 512MiB say");
  }
  return static_cast<std::size_t>(number * factor);
}

void print(const EliminationAnswer& answer, const Target& target) {
  const Domain& domain = target.domain();
  show("{}, {} coordinates\n\n", target.name(), domain.dim());
  show("log Z        {:.10g}\n", answer.log_z);
  show("best log p   {:.10g}\n", answer.best_logp);
  show("width        {} ({} entries in all tables)\n\n", answer.width, answer.entries);
  const int shown = std::min(domain.dim(), kMostShown);
  show("{:>10}  {:>4}  probabilities of the levels\n", "coordinate", "best");
  std::size_t next = 0;
  for (int i = 0; i < shown; ++i) {
    show("{:>10}  {:>4} ", i, answer.best[static_cast<std::size_t>(i)]);
    for (int k = 0; k < domain.levels(i); ++k, ++next) {
      if (k < 8) show(" {:.6f}", answer.probabilities[next]);
    }
    show("{}\n", domain.levels(i) > 8 ? " ..." : "");
  }
  if (shown < domain.dim()) {
    show("{:>10}  --json has all {} coordinates\n", "...", domain.dim());
  }
}

void exact(const ExactOptions& options) {
  const EliminationLimits limits{bytes_of(options.memory)};
  const Model model = load_model(options.model);
  const Target& target = model.on_host ? *model.on_host : *model.target;
  const std::optional<FactorsModel> graph = factor_graph(target);
  if (!graph) {
    throw UsageError(
        "exact answers come by elimination, which the model " + target.name() +
        " does not allow: it is not made of factors over few coordinates with finitely "
        "many levels");
  }
  const EliminationAnswer answer = eliminate(*graph, limits);
  if (answer.best.empty()) throw DataError("every state of the model has probability 0");
  if (!options.json) return print(answer, target);
  show_json(exact_json(target, answer));
}

}  // namespace

void add_exact(CLI::App& program, int&) {
  CLI::App* command = program.add_subcommand(
      "exact", "Exact log Z, probabilities and best state, where the model's graph is narrow");
  auto options = std::make_shared<ExactOptions>();
  add_model_options(*command, options->model);
  add_default(*command, "--memory", options->memory, "Memory for tables: 512MiB, 4GiB")
      ->type_name("SIZE");
  command->add_flag("--json", options->json, "Print the results as JSON, and nothing else");
  command->callback([options] { exact(*options); });
}

}  // namespace saltus::cli
