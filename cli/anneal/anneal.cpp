// saltus anneal: the best state of a model.
#include <fmt/core.h>

#include <cmath>
#include <memory>

#include "cli/anneal/report.hpp"
#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "cli/progress.hpp"
#include "cli/team.hpp"
#include "cli/terminal.hpp"
#include "cli/text.hpp"
#include "cli/warnings.hpp"
#include "io/bytes/byte_file.hpp"
#include "io/factors/uai_answers.hpp"
#include "saltus/core/error.hpp"

namespace saltus::cli {
namespace {

const std::vector<std::string> kSchedules = {"adaptive", "linear", "geometric"};

struct AnnealOptions {
  ModelRequest model;
  AnnealRequest request;
  std::string seed = "1", method = "annealing", schedule = kSchedules.front(), out;
  std::string answers;  // a file of UAI
  std::vector<std::string> set;
  double first = 0, last = 0, goal = 0;
  bool no_polish = false, json = false, strict = false;
};

std::string line_of(const AnnealStatus& status, const std::optional<Objective>& objective) {
  const char* stages[] = {"finding the range of betas", "pilot", "restarts", "polishing"};
  std::string line =
      fmt::format("{}: {:.0f} %", stages[static_cast<int>(status.stage)], 100 * status.done);
  if (std::isnan(status.best)) return line;
  return line + (objective
                     ? fmt::format("  {} {:.10g}", objective->name, objective->value(status.best))
                     : fmt::format("  log p {:.10g}", status.best));
}

// Everything that was given, checked, with the model. Throws UsageError, FileError and DataError.
AnnealRequest complete(const CLI::App& command, const AnnealOptions& o) {
  check_states_file(o.out);
  if (!o.answers.empty() && uai_task(o.answers) != UaiTask::mpe) {
    throw UsageError("--answers " + o.answers + ": anneal gives the best state, FILE.MPE");
  }
  if (o.request.sampler == "auto" && !o.set.empty()) {
    throw UsageError("--set has no place beside --sampler auto: name a sampler");
  }
  FileRoles roles;
  roles.reads("MODEL", o.model.model);
  roles.reads("--given", o.model.given);
  roles.writes("--out", o.out);
  roles.writes("--answers", o.answers);
  AnnealRequest request = o.request;
  request.settings = with_files_read(parse_settings(o.set));
  request.seed = parse_seed(o.seed);
  request.polish = !o.no_polish;
  request.population = o.method == "population";
  const auto place = std::ranges::find(kSchedules, o.schedule) - kSchedules.begin();
  request.schedule = static_cast<ScheduleKind>(place);
  if (was_given(command, "--first")) request.first = o.first;
  if (was_given(command, "--last")) request.last = o.last;
  Model model = load_model(o.model);
  roles.reads(model.files);
  request.objective = model.objective;
  request.labels = labels_of(model.value);
  request.whole = model.whole;
  if (was_given(command, "--goal")) {
    request.goal = request.objective ? request.objective->logp(o.goal) : o.goal;
  }
  const auto owner = std::make_shared<const Model>(std::move(model));
  request.target = {owner, owner->target.get()};
  request.problem = problem_of(owner);
  return request;
}

int find_best(const CLI::App& command, const AnnealOptions& o) {
  AnnealRequest request = complete(command, o);
  request.team = team();
  const auto run = [&] {
    Progress progress;
    return anneal(request, [&](const AnnealStatus& status) {
      return progress.update(status.seconds, [&] { return line_of(status, request.objective); });
    });
  };
  const AnnealResult result = run();
  if (!leads()) return ok;
  const Target& model = request.whole ? *request.whole->target : *request.target;
  const AnnealReport report{request, result, model, o.schedule, o.out};
  write_states(report);
  if (!o.answers.empty() && result.best) replace_file(o.answers, mpe_answer(result.best->state));
  o.json ? show_anneal_json(report) : print_anneal(report);
  return signal_seen() ? 128 + signal_seen() : status_of(result.warnings, o.strict);
}

}  // namespace

void add_anneal(CLI::App& program, int& status) {
  CLI::App* command =
      program.add_subcommand("anneal", "Find the best state of a model, by simulated annealing");
  auto o = std::make_shared<AnnealOptions>();
  AnnealRequest& r = o->request;
  add_model_options(*command, o->model);
  add_default(*command, "--sampler", r.sampler,
              "Sampler of the steps, or auto: Gibbs sweeps where they are cheap, otherwise dmala");
  add_settings(*command, o->set);
  add_default(*command, "--method", o->method,
              "annealing, or population: restarts are resampled on the way, which gives log Z, too")
      ->type_name("")
      ->check(CLI::IsMember({"annealing", "population"}));
  add_default(*command, "--restarts", r.restarts, "Restarts", whole_number(1, 1'000'000'000));
  add_default(*command, "--steps", r.steps, "Steps of each restart",
              whole_number(1, 1'000'000'000));
  add_default(*command, "--schedule", o->schedule,
              "How the inverse temperature grows: adaptive (by a pilot), linear or geometric")
      ->type_name("")
      ->check(CLI::IsMember(kSchedules));
  add_typed(*command, "--first", o->first, "First inverse temperature (default: by model)", "BETA")
      ->check(finite_number(0));
  add_typed(*command, "--last", o->last, "Last inverse temperature (default: by model)", "BETA")
      ->check(finite_number(0));
  add_typed(*command, "--goal", o->goal,
            "Count restarts that reach this: the objective of a problem file, otherwise log p "
            "(default: the best found)",
            "NUMBER")
      ->check(finite_number(-1e300));
  add_typed(*command, "--time", r.time_limit, "Stop after this many seconds", "SECONDS")
      ->check(finite_number(1e-9));
  command->add_flag("--no-polish", o->no_polish,
                    "Leave the best states as they were found, without greedy ascent");
  add_seed(*command, o->seed);
  add_threads(*command, r.threads, "a result");
  command->add_flag("--json", o->json, "Print the summary as JSON, and nothing else");
  add_strict(*command, o->strict);
  add_typed(*command, "--out", o->out,
            "Write the best state of each restart: FILE.json, FILE.npz or FILE.csv", "FILE");
  add_typed(*command, "--answers", o->answers,
            "Write the best state in the format of UAI: FILE.MPE", "FILE");
  command->callback([o, command, &status] { status = find_best(*command, *o); });
}

}  // namespace saltus::cli
