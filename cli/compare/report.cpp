#include "cli/compare/report.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "cli/options.hpp"
#include "cli/terminal.hpp"
#include "cli/text.hpp"
#include "ops/ops.hpp"
#include "saltus/diagnose/summary.hpp"
#include "saltus/version.hpp"

namespace saltus::cli {
namespace {

bool ranked(const RaceResult& r) {
  return r.exact && r.random;
}

double rhat(const RaceResult& r) {
  return largest(r.estimate.rhat);
}

// What tuning found, or what was set: "step_size 0.21".
std::string tuned_text(const RaceResult& r) {
  for (const Parameter& p : r.parameters) {
    if (p.name == "step_size" || p.name == "flips" || p.name == "rate") return parameter_text(p);
  }
  return "";
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
  show("{:<17} {:>6.3f} {:>8} {:>10} {:>15} {:>10} {:>7} {:>8}  {}\n", r.contender.sampler,
       s.acceptance, short_number(s.changed),
       whole_or_short(static_cast<double>(s.steps) / s.idle_seconds_of_draws), ess,
       has_ess ? short_number(r.ess_per_evaluation()) : "-", r.random ? fixed(rhat(r), 3) : "-",
       std::isnan(report.outcome.error[i]) ? "" : fmt::format("{:.1e}", report.outcome.error[i]),
       tuned_text(r));
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
    if (ranked(r) && rhat(r) > 1.05) slow.push_back(r.contender.sampler);
  }
  if (!slow.empty()) {
    show(
        "\nWarning: the chains of {} have not mixed (R-hat above 1.05): their figures are rough.\n"
        "A larger --budget helps.\n",
        fmt::join(slow, ", "));
  }
}

const std::string& name(const CompareReport& report, int i) {
  return report.results[static_cast<std::size_t>(i)].contender.sampler;
}

std::string sentence(const CompareReport& report, const Verdict& v, const std::string& per) {
  if (v.best < 0) return "No exact sampler moved enough to be judged: give a larger --budget.";
  if (v.second < 0)
    return fmt::format("Per {}: {} is the only exact one here.", per, name(report, v.best));
  const std::string by =
      fmt::format("{:.2f} times (95 % interval {:.2f} to {:.2f})", v.ratio, v.low, v.high);
  if (!v.clear()) {
    return fmt::format(
        "Per {}: {} and {} cannot be told apart; the ratio of their effective sample sizes is {}.",
        per, name(report, v.best), name(report, v.second), by);
  }
  return fmt::format("Per {}: {} is best, with {} the effective sample size of {}, the next.", per,
                     name(report, v.best), by, name(report, v.second));
}

nlohmann::ordered_json verdict_json(const CompareReport& report, const Verdict& v) {
  if (v.best < 0) return nullptr;
  nlohmann::ordered_json j;
  j["sampler"] = name(report, v.best);
  j["next"] = nullptr;
  if (v.second >= 0) j["next"] = name(report, v.second);
  j["ratio"] = json_number(v.ratio);
  j["low"] = json_number(v.low);
  j["high"] = json_number(v.high);
  j["clear"] = v.clear();
  return j;
}

nlohmann::ordered_json result_json(const CompareReport& report, std::size_t i) {
  const RaceResult& r = report.results[i];
  const RunStatistics& s = r.statistics;
  nlohmann::ordered_json j;
  j["sampler"] = r.contender.sampler;
  j["settings"] = r.contender.settings;
  j["parameters"] = parameters_json(r.parameters);
  j["exact"] = r.exact;
  j["random"] = r.random;
  j["ranked"] = ranked(r);
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
  j["rhat"] = number(rhat(r));
  j["error"] = json_number(report.outcome.error[i]);
  j["bias_l1"] = json_number(report.outcome.bias[i]);
  return j;
}

}  // namespace

nlohmann::ordered_json compare_json(const CompareReport& report) {
  nlohmann::ordered_json j;
  j["model"] = report.target.name();
  j["dim"] = report.target.domain().dim();
  j["chains"] = report.plan.chains;
  j["budget"] = report.plan.seconds;
  j["seed"] = report.plan.seed;
  auto list = nlohmann::ordered_json::array();
  for (bool of_ranked : {true, false}) {
    for (std::size_t i : by_merit(report, of_ranked)) list.push_back(result_json(report, i));
  }
  j["results"] = std::move(list);
  j["best"] = verdict_json(report, report.outcome.per_second);
  j["best_per_evaluation"] = verdict_json(report, report.outcome.per_evaluation);
  j["sentence"] = sentence(report, report.outcome.per_second, "second");
  j["exact_known"] = report.outcome.exact.has_value();
  j["seconds"] = json_number(report.outcome.seconds);
  j["instruction_set"] = ops::name(ops::active_level());
  j["version"] = version();
  return j;
}

std::string compare_csv(const CompareReport& report) {
  std::string text =
      "sampler,exact,acceptance_rate,changes,steps_per_second,ess_per_second,ess_per_evaluation,"
      "ess_relative_error,rhat,error,bias_l1";
  const std::vector<std::string> keys = split_list(text);
  const auto field = [](const nlohmann::ordered_json& v) {
    return v.is_null() ? std::string() : v.is_string() ? v.get<std::string>() : v.dump();
  };
  const nlohmann::ordered_json all = compare_json(report);
  for (const auto& r : all["results"]) {
    for (const std::string& key : keys) {
      text += (&key == keys.data() ? "\n" : ",") + field(r[key]);
    }
  }
  return text + "\n";
}

void print_comparison(const CompareReport& report) {
  show("model     {}, {} coordinates ({})\n", report.target.name(),
       with_commas(static_cast<std::uint64_t>(report.target.domain().dim())),
       shape_text(report.target.shape()));
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
  show("\n{}\n{}\n", sentence(report, report.outcome.per_second, "second"),
       sentence(report, report.outcome.per_evaluation, "evaluation"));
}

}  // namespace saltus::cli
