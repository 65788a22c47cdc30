// saltus compare: a fair race between samplers on one model. Its outcome is a table for people,
// JSON for programs, CSV for spreadsheets.
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <memory>

#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "cli/progress.hpp"
#include "cli/run_files.hpp"
#include "cli/team.hpp"
#include "cli/terminal.hpp"
#include "cli/text.hpp"
#include "io/bytes/byte_file.hpp"
#include "saltus/compare.hpp"
#include "saltus/core/error.hpp"

namespace saltus::cli {
namespace {

// What tuning found, what was set, and what tells samplers of one name apart: "step_size 0.21".
std::string settings_text(const RaceResult& r) {
  std::vector<std::string> without = {"adapt"};
  for (const char* minor : {"block", "distance", "form", "balancing", "fixed", "temperature"}) {
    if (r.contender.settings.count(minor) == 0) without.push_back(minor);
  }
  return parameters_text(r.parameters, without);
}

// Draws as the race did. `model`: as words of a command.
std::string command_of(const std::string& model, const RaceResult& r) {
  return "saltus sample " + model + sampler_words(r.contender.sampler, r.settings()) +
         (r.contender.tempered ? " --temper" : "");
}

std::string whole_or_short(double v) {
  return v >= 1000 ? rounded(v) : short_number(v);
}

void print_row(const CompareReport& report, std::size_t i) {
  const RaceResult& r = report.results[i];
  const RunStatistics& s = r.statistics;
  const bool has_ess = r.random && r.ess() > 0;
  const std::string ess = has_ess ? fmt::format("{} +-{:.0f}%", whole_or_short(r.ess_per_second()),
                                                100 * std::min(9.99, r.log_ess_error))
                                  : "-";
  show("{:<17} {:>6.3f} {:>8} {:>10} {:>15} {:>10} {:>7} {:>8}  {}\n", r.contender.name(),
       s.acceptance, short_number(s.changed),
       whole_or_short(static_cast<double>(s.steps) / s.idle_seconds_of_draws), ess,
       has_ess ? short_number(r.ess_per_evaluation()) : "-", r.random ? fixed(r.rhat(), 3) : "-",
       std::isnan(report.outcome.error[i]) ? "" : fmt::format("{:.1e}", report.outcome.error[i]),
       settings_text(r));
}

void print_header(const CompareReport& report) {
  show("{:<17} {:>6} {:>8} {:>10} {:>15} {:>10} {:>7} {:>8}\n", "", "accep-", "changes", "", "",
       "ESS per", "", "");
  show("{:<17} {:>6} {:>8} {:>10} {:>15} {:>10} {:>7} {:>8}\n", "sampler", "tance", "per step",
       "steps/s", "ESS per second", "evaluation", "R-hat", report.outcome.exact ? "error" : "");
}

void print_unranked(const CompareReport& report) {
  const std::vector<std::size_t> order = report.by_merit(false);
  if (order.empty()) return;
  show("\nnot exact, so not ranked: effective draws from a law that is not the model's\n");
  for (std::size_t i : order) {
    print_row(report, i);
    const RaceResult& r = report.results[i];
    if (!std::isnan(report.outcome.bias[i])) {
      show("{:<17} its law is at L1 distance {:.4g} from the model's (exact)\n", "",
           report.outcome.bias[i]);
    } else if (!r.random) {
      show("{:<17} deterministic after its start: it has no effective sample size\n", "");
    }
  }
}

void print_warnings(const CompareReport& report) {
  std::vector<std::string> slow;
  for (const RaceResult& r : report.results) {
    if (r.exact && r.random && r.rhat() > 1.05) slow.push_back(r.contender.label());
  }
  if (!slow.empty()) {
    show(
        "\nWarning: the chains of {} have not mixed (R-hat above 1.05): their figures are rough.\n"
        "A larger --budget helps.\n",
        fmt::join(slow, ", "));
  }
  std::vector<std::string> wrong;
  for (const RaceResult& r : report.results) {
    if (r.wrong) wrong.push_back(r.contender.label());
  }
  if (!wrong.empty()) {
    show(
        "\nWarning: the means of {} are far from the exact ones: the chains have missed a part of "
        "the\nmodel, so they cannot win.\n",
        fmt::join(wrong, ", "));
  }
  if (report.outcome.modes.empty()) return;
  const RaceResult& last = report.results.back();
  show("\n{}{}: the model may have several modes. {}\n",
       static_cast<char>(std::toupper(report.outcome.modes[0])), report.outcome.modes.substr(1),
       last.contender.tempered
           ? fmt::format("So {} was raced along a ladder of {} temperatures, too\n"
                         "(saltus sample --temper).",
                         last.contender.sampler, last.replicas)
           : "None of these samplers can be tempered.");
}

std::string compare_csv(const CompareReport& report) {
  std::string text =
      "sampler,exact,acceptance_rate,changes,steps_per_second,ess_per_second,ess_per_evaluation,"
      "ess_relative_error,rhat,error,bias_l1,tempered";
  const std::vector<std::string> keys = split_list(text);
  const auto field = [](const Json& v) {
    return v.is_null() ? std::string() : v.is_string() ? v.get<std::string>() : v.dump();
  };
  const Json all = compare_json(report);
  for (const auto& r : all["results"]) {
    for (const std::string& key : keys) {
      text += (&key == keys.data() ? "\n" : ",") + field(r[key]);
    }
  }
  return text + "\n";
}

void print_comparison(const CompareReport& report) {
  show("model     {}, {} coordinates ({})\n", report.target.name(),
       count(report.target.domain().dim()), shape_text(report.target.shape()));
  if (report.whole) show("given     {}\n", given_text(report.whole->given));
  show("race      {} chains, {} of drawing for each sampler, seed {}\n\n", report.plan.chains,
       duration(report.plan.seconds), report.plan.seed);
  print_header(report);
  for (std::size_t i : report.by_merit(true)) print_row(report, i);
  print_unranked(report);
  show(
      "\nESS: independent draws that would estimate the means of the coordinates as well, all "
      "chains together;\n+- one standard error. An evaluation is a gradient with its log p; log p "
      "alone counts a half, a local\ndifference one part in the number of coordinates.\n");
  if (report.outcome.exact)
    show("error: root mean square error of the means against the exact ones.\n");
  print_warnings(report);
  const Verdict &best = report.outcome.per_second, &frugal = report.outcome.per_evaluation;
  show("\n{}\n", report.sentence(best, "second"));
  if (best.best < 0) return;
  show("{}\n", report.sentence(frugal, "evaluation"));
  show("\nTo draw with {} as it was raced:\n  {}\n", report.name(best.best),
       report.command(report.results[static_cast<std::size_t>(best.best)]));
}

struct CompareCommand {
  ModelRequest model;
  std::string samplers = "all", out, seed = "1";
  RacePlan plan;
  bool json = false;
};

// "all", or names separated by commas.
std::vector<Contender> contenders_of(const std::string& text) {
  std::vector<Contender> list;
  if (text == "all") return list;
  for (const std::string& part : split_list(text)) list.push_back(parse_contender(part));
  return list;
}

void write_file(const std::string& path, const CompareReport& report) {
  const bool csv = std::filesystem::path(path).extension() == ".csv";
  replace_file(path, csv ? compare_csv(report) : compare_json(report).dump(2) + "\n");
}

void check_out(const std::string& out, const std::string& model,
               const std::map<std::string, std::string>& model_files = {}) {
  if (out.empty()) return;
  const std::string ending = std::filesystem::path(out).extension();
  if (ending != ".json" && ending != ".csv") {
    throw UsageError("--out " + out + ": a comparison is written as FILE.json or FILE.csv");
  }
  FileRoles roles;
  roles.reads("MODEL", model);
  roles.reads(model_files);
  roles.writes("--out", out);
}

int compare(CompareCommand command) {
  check_out(command.out, command.model.model);
  command.plan.seed = parse_seed(command.seed);
  command.plan.warmup_seconds = command.plan.seconds / 4;
  Model model = load_model(command.model);
  check_out(command.out, command.model.model, model.files);
  if (const auto base = base_of_target(model)) {
    command.plan.base = std::make_shared<Independent>(*base);
  }
  const std::shared_ptr<const WholeModel> whole = model.whole;
  const CompareRequest request{shared_target(std::move(model)), contenders_of(command.samplers),
                               command.plan, team()};
  const auto run = [&] {
    Progress progress(Progress::Elsewhere::nothing);
    return saltus::compare(request, [&](const std::string& label, int turn, int turns) {
      return progress.show(fmt::format("round {} of {}: {}", turn + 1, turns, label));
    });
  };
  const CompareResult result = run();
  if (!leads()) return ok;
  if (!result.complete) return 128 + signal_seen();
  const std::string words = model_words(command.model);
  CompareReport report{whole ? *whole->target : *request.target, request.plan, result};
  report.whole = whole.get();
  report.command = [&](const RaceResult& r) { return command_of(words, r); };
  report.longer = "Give a larger --budget";
  report.tempered =
      ", or draw along a ladder of temperatures: saltus sample " + words + " --temper";
  if (!command.out.empty()) write_file(command.out, report);
  command.json ? show_json(compare_json(report)) : print_comparison(report);
  return ok;
}

}  // namespace

void add_compare(CLI::App& program, int& status) {
  CLI::App* command = program.add_subcommand("compare", "Race samplers on a model");
  auto o = std::make_shared<CompareCommand>();
  add_model_options(*command, o->model);
  add_default(*command, "--samplers", o->samplers,
              "Names separated by commas, with parameters as NAME:KEY=VALUE")
      ->type_name("LIST|all");
  add_default(*command, "--budget", o->plan.seconds, "Seconds of drawing for each sampler",
              finite_number(1e-3));
  add_default(*command, "--chains", o->plan.chains, "Chains of each sampler",
              whole_number(2, 100'000));
  add_seed(*command, o->seed);
  add_threads(*command, o->plan.threads, "");
  add_typed(*command, "--out", o->out, "Write the comparison: FILE.json or FILE.csv", "FILE");
  command->add_flag("--json", o->json, "Print the comparison as JSON, and nothing else");
  command->callback([o, &status] { status = compare(*o); });
}

}  // namespace saltus::cli
