// saltus exact: log Z, probabilities and the best state of a model of low width, without sampling.
#include "saltus/exact.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "cli/run_files.hpp"
#include "cli/terminal.hpp"
#include "cli/text.hpp"
#include "io/bytes/byte_file.hpp"
#include "io/factors/uai_answers.hpp"
#include "saltus/core/error.hpp"
#include "saltus/diagnose/exact.hpp"
#include "saltus/io/model_file.hpp"
#include "saltus/target/constraint.hpp"
#include "service/whole.hpp"

namespace saltus::cli {
namespace {

constexpr int kMostShown = 20;        // coordinates
constexpr int kMostLevels = 8;        // of each
constexpr double kMostEntries = 5e8;  // of all states that a constraint allows
constexpr int kBlock = 1024;          // of them, evaluated together

struct ExactOptions {
  ModelRequest model;
  std::string memory = "1GiB";
  std::string answers;  // a file of UAI
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

// What a file of answers holds.
std::string answers_of(UaiTask task, const EliminationAnswer& answer, const Domain& domain) {
  if (task == UaiTask::pr) return pr_answer(answer.log_z);
  if (task == UaiTask::mpe) return mpe_answer(answer.best);
  std::vector<int> levels;
  for (int i = 0; i < domain.dim(); ++i) levels.push_back(domain.levels(i));
  return mar_answer(levels, answer.probabilities);
}

void print(const EliminationAnswer& answer, const Target& target, const WholeModel* whole,
           const Labels& labels) {
  const Domain& domain = target.domain();
  show("{}, {} coordinates\n", target.name(), domain.dim());
  if (whole) show("given {}\n", given_text(whole->given));
  show("\n");
  show("log Z        {:.10g}\n", answer.log_z);
  show("best log p   {:.10g}\n", answer.best_logp);
  if (const Constraint* constraint = target.constraint()) {
    show("constraint   {}\n\n", constraint->text());
  } else {
    show("width        {} ({} entries in all tables)\n\n", answer.width, answer.entries);
  }
  const int shown = std::min(domain.dim(), kMostShown);
  show("{:>10}  {:>4}  probabilities of the levels\n", "coordinate", "best");
  std::size_t next = 0;
  for (int i = 0; i < shown; ++i) {
    const std::string name =
        labels.coordinates.empty() ? std::to_string(i) : coordinate_label(i, {}, labels);
    show("{:>10}  {:>4} ", name, level_label(i, answer.best[static_cast<std::size_t>(i)], labels));
    for (int k = 0; k < domain.levels(i); ++k, ++next) {
      if (k >= kMostLevels) continue;
      const bool named = !level_names(labels, i).empty();
      show(" {}{:.6f}", named ? level_label(i, k, labels) + " " : "", answer.probabilities[next]);
    }
    show("{}\n", domain.levels(i) > kMostLevels ? " ..." : "");
  }
  if (shown < domain.dim()) {
    show("{:>10}  --json has all {} coordinates\n", "...", domain.dim());
  }
}

// Goes through the states that a constraint allows for the one of largest log p.
void find_best(const Target& target, EliminationAnswer& answer) {
  const Constraint& constraint = *target.constraint();
  const RowBuffer<Symbol> block(kBlock, constraint.dim());
  std::vector<double> logp(kBlock);
  std::vector<Symbol> x(static_cast<std::size_t>(constraint.dim()));
  Scratch scratch;
  answer.best_logp = -INFINITY;
  constraint.first(x.data());
  for (bool more = true; more;) {
    Rows<Symbol> rows = block.view();
    for (rows.rows = 0; more && rows.rows < kBlock; ++rows.rows) {
      std::ranges::copy(x, rows[rows.rows]);
      more = constraint.next(x.data());
    }
    target.evaluate_exact({0, 0, scratch}, rows, logp.data(), {});
    const auto best = std::max_element(logp.begin(), logp.begin() + rows.rows);
    if (!(*best > answer.best_logp)) continue;
    answer.best_logp = *best;
    const auto state = rows.row(static_cast<int>(best - logp.begin()));
    answer.best.assign(state.begin(), state.end());
  }
}

// The states that a constraint allows, gone through one by one.
EliminationAnswer constrained_answer(const Target& target) {
  const Constraint& constraint = *target.constraint();
  if (!constraint.count(static_cast<std::uint64_t>(kMostEntries / constraint.dim()))) {
    throw UsageError(
        fmt::format("the constraint {} allows about 10^{:.1f} states, too many to go "
                    "through: saltus logz estimates log Z",
                    constraint.text(), constraint.log_count() / std::numbers::ln10));
  }
  const ExactAnswer all = exact_answer(target);
  EliminationAnswer answer{};
  answer.log_z = all.log_z;
  const double first = target.domain().first_value(), spacing = target.domain().spacing();
  for (const double mean : all.means) {
    const double upper = (mean - first) / spacing;
    answer.probabilities.insert(answer.probabilities.end(), {1 - upper, upper});
  }
  find_best(target, answer);
  return answer;
}

EliminationAnswer eliminated(const ExactOptions& options, const Target& target) {
  const EliminationLimits limits{bytes_of(options.memory)};
  const std::optional<FactorsModel> graph = factor_graph(target);
  if (!graph) {
    throw UsageError(
        "exact answers come by elimination, which the model " + target.name() +
        " does not allow: it is not made of factors over few coordinates with finitely "
        "many levels");
  }
  return eliminate(*graph, limits);
}

void exact(const ExactOptions& options) {
  bytes_of(options.memory);
  FileRoles roles;
  roles.reads("MODEL", options.model.model);
  roles.reads("--given", options.model.given);
  roles.writes("--answers", options.answers);
  const std::optional<UaiTask> task =
      options.answers.empty() ? std::nullopt : std::optional(uai_task(options.answers));
  const Model model = load_model(options.model);
  const Constraint* constraint = model.target->constraint();
  const EliminationAnswer found =
      constraint ? constrained_answer(*model.target)
                 : eliminated(options, model.on_host ? *model.on_host : *model.target);
  if (found.best.empty()) throw DataError("every state of the model has probability 0");
  const EliminationAnswer answer = model.whole ? with_given(found, model.whole->given) : found;
  const Target& whole = model.whole ? *model.whole->target : *model.target;
  if (task) replace_file(options.answers, answers_of(*task, answer, whole.domain()));
  const Labels& labels = labels_of(model.value);
  if (!options.json) return print(answer, whole, model.whole.get(), labels);
  show_json(exact_json(whole, answer, labels, model.whole.get()));
}

}  // namespace

void add_exact(CLI::App& program, int&) {
  CLI::App* command = program.add_subcommand(
      "exact", "Exact log Z, probabilities and best state, where the model's graph is narrow");
  auto options = std::make_shared<ExactOptions>();
  add_model_options(*command, options->model);
  add_default(*command, "--memory", options->memory, "Memory for tables: 512MiB, 4GiB")
      ->type_name("SIZE");
  add_typed(*command, "--answers", options->answers,
            "Write the answer in the format of UAI: FILE.PR (log10 Z), FILE.MAR (probabilities) or "
            "FILE.MPE (the best state)",
            "FILE");
  command->add_flag("--json", options->json, "Print the results as JSON, and nothing else");
  command->callback([options] { exact(*options); });
}

}  // namespace saltus::cli
