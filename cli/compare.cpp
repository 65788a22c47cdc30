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
#include "ops/ops.hpp"
#include "saltus/compare.hpp"
#include "saltus/core/error.hpp"
#include "saltus/version.hpp"

namespace saltus::cli {
namespace {

struct CompareReport {
  const Target& target;                     // of all coordinates
  std::shared_ptr<const WholeModel> whole;  // where values are given
  const RacePlan& plan;
  const CompareResult& outcome;
  std::string model;  // as words of a command
  const std::vector<RaceResult>& results = outcome.results;
};

bool ranked(const RaceResult& r) {
  return r.exact && r.random;
}

// What tuning found, what was set, and what tells samplers of one name apart: "step_size 0.21".
std::string settings_text(const RaceResult& r) {
  std::vector<std::string> without = {"adapt"};
  for (const char* minor : {"block", "distance", "form", "balancing", "fixed", "temperature"}) {
    if (r.contender.settings.count(minor) == 0) without.push_back(minor);
  }
  return parameters_text(r.parameters, without);
}

// Draws as the race did.
std::string command_of(const CompareReport& report, const RaceResult& r) {
  return "saltus sample " + report.model + sampler_words(r.contender.sampler, r.settings()) +
         (r.contender.tempered ? " --temper" : "");
}

std::vector<std::size_t> by_merit(const CompareReport& report, bool of_ranked) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < report.results.size(); ++i) {
    if (ranked(report.results[i]) == of_ranked) order.push_back(i);
  }
  const auto merit = [&](std::size_t i) {
    const double v = report.results[i].ess_per_second();
    return v > 0 ? v : -1;
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return merit(a) > merit(b); });
  return order;
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
  const std::vector<std::size_t> order = by_merit(report, false);
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
    if (ranked(r) && r.rhat() > 1.05) slow.push_back(r.contender.label());
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

std::string name(const CompareReport& report, int i) {
  return report.results[static_cast<std::size_t>(i)].contender.label();
}

// Nobody has won.
std::string no_winner(const CompareReport& report) {
  const bool tempered =
      std::ranges::any_of(report.results, [](const RaceResult& r) { return r.contender.tempered; });
  const bool can_be = !tempered && !report.target.domain().unbounded();
  return fmt::format(
      "No winner: the chains of no exact sampler have mixed in this time (R-hat above {}, or fewer "
      "than {} effective draws), so that their figures say little. Give a larger --budget{}.",
      RaceResult::kMostRhat, RaceResult::kLeastEss,
      can_be ? fmt::format(", or draw along a ladder of temperatures: saltus sample {} --temper",
                           report.model)
             : "");
}

std::string sentence(const CompareReport& report, const Verdict& v, const std::string& per) {
  if (v.best < 0) return no_winner(report);
  const std::string best = name(report, v.best);
  if (v.second < 0) {
    const auto exact = std::ranges::count_if(report.results, ranked);
    return fmt::format("Per {}: {} is the only exact one here{}.", per, best,
                       exact > 1 ? " whose chains have mixed" : "");
  }
  const std::string by =
      fmt::format("{:.2f} times (95 % interval {:.2f} to {:.2f})", v.ratio, v.low, v.high);
  if (!v.clear()) {
    return fmt::format("Per {}: {} and {} cannot be told apart in this time{}.", per, best,
                       name(report, v.second),
                       v.telling() ? "; the ratio of their effective sample sizes is " + by : "");
  }
  return fmt::format("Per {}: {} is best, with {} the effective sample size of {}, the next.", per,
                     name(report, v.best), by, name(report, v.second));
}

Json verdict_json(const CompareReport& report, const Verdict& v) {
  if (v.best < 0) return nullptr;
  Json j;
  j["sampler"] = name(report, v.best);
  j["command"] = command_of(report, report.results[static_cast<std::size_t>(v.best)]);
  j["next"] = nullptr;
  if (v.second >= 0) j["next"] = name(report, v.second);
  j["ratio"] = json_number(v.ratio);
  j["low"] = json_number(v.low);
  j["high"] = json_number(v.high);
  j["clear"] = v.clear();
  return j;
}

Json result_json(const CompareReport& report, std::size_t i) {
  const RaceResult& r = report.results[i];
  const RunStatistics& s = r.statistics;
  Json j;
  j["sampler"] = r.contender.sampler;
  j["tempered"] = r.contender.tempered;
  if (r.contender.tempered) j["replicas"] = r.replicas;
  j["settings"] = r.settings();
  j["parameters"] = parameters_json(r.parameters);
  j["command"] = command_of(report, r);
  j["exact"] = r.exact;
  j["random"] = r.random;
  j["ranked"] = ranked(r);
  j["mixed"] = r.mixed();
  j["warmup"] = r.warmup;
  j["steps"] = s.steps;
  j["thin"] = r.thin;
  j["seconds"] = json_number(s.idle_seconds_of_draws);
  j["steps_per_second"] = json_number(static_cast<double>(s.steps) / s.idle_seconds_of_draws);
  j["acceptance_rate"] = json_number(s.acceptance);
  j["changes"] = json_number(s.changed);
  j["evaluations"] = {
      {"logp", json_number(s.logp_evaluations)},
      {"gradient", json_number(s.gradient_evaluations)},
      {"local", json_number(s.local_differences)},
      {"gradient_equivalent", json_number(r.evaluations_per_step / report.plan.chains)}};
  const auto number = [&](double v) { return json_number(r.random ? v : NAN); };
  j["ess"] = {{"of_means", number(r.ess())},
              {"min", number(least(r.estimate.ess))},
              {"median", number(median(r.estimate.ess))}};
  j["ess_per_second"] = number(r.ess_per_second());
  j["ess_per_evaluation"] = number(r.ess_per_evaluation());
  j["ess_relative_error"] = number(r.log_ess_error);
  j["rhat"] = r.random ? json_rhat(r.rhat()) : Json(nullptr);
  j["error"] = json_number(report.outcome.error[i]);
  j["bias_l1"] = json_number(report.outcome.bias[i]);
  return j;
}

Json compare_json(const CompareReport& report) {
  Json j;
  j["model"] = report.target.name();
  add_constraint(j, report.target);
  j["dim"] = report.target.domain().dim();
  if (report.whole) j["given"] = given_json(report.whole->given);
  j["chains"] = report.plan.chains;
  j["budget"] = report.plan.seconds;
  j["seed"] = report.plan.seed;
  auto list = Json::array();
  for (bool of_ranked : {true, false}) {
    for (std::size_t i : by_merit(report, of_ranked)) list.push_back(result_json(report, i));
  }
  j["results"] = std::move(list);
  j["best"] = verdict_json(report, report.outcome.per_second);
  j["best_per_evaluation"] = verdict_json(report, report.outcome.per_evaluation);
  j["sentence"] = sentence(report, report.outcome.per_second, "second");
  j["modes"] = report.outcome.modes;
  j["exact_known"] = report.outcome.exact.has_value();
  j["seconds"] = json_number(report.outcome.seconds);
  j["instruction_set"] = ops::name(ops::active_level());
  j["version"] = version();
  return j;
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
  for (std::size_t i : by_merit(report, true)) print_row(report, i);
  print_unranked(report);
  show(
      "\nESS: independent draws that would estimate the means of the coordinates as well, all "
      "chains together;\n+- one standard error. An evaluation is a gradient with its log p; log p "
      "alone counts a half, a local\ndifference one part in the number of coordinates.\n");
  if (report.outcome.exact)
    show("error: root mean square error of the means against the exact ones.\n");
  print_warnings(report);
  const Verdict &best = report.outcome.per_second, &frugal = report.outcome.per_evaluation;
  show("\n{}\n", sentence(report, best, "second"));
  if (best.best < 0) return;
  show("{}\n", sentence(report, frugal, "evaluation"));
  show("\nTo draw with {} as it was raced:\n  {}\n", name(report, best.best),
       command_of(report, report.results[static_cast<std::size_t>(best.best)]));
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
  const CompareReport report{whole ? *whole->target : *request.target, whole, request.plan, result,
                             model_words(command.model)};
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
