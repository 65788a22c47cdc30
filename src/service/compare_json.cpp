#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "ops/ops.hpp"
#include "saltus/version.hpp"
#include "service/result_json.hpp"

namespace saltus {
namespace {

// Nobody has won.
std::string no_winner(const CompareReport& report) {
  const bool tempered =
      std::ranges::any_of(report.results, [](const RaceResult& r) { return r.contender.tempered; });
  const bool can_be = !tempered && !report.target.domain().unbounded();
  return fmt::format(
      "No winner: the chains of no exact sampler have mixed in this time (R-hat above {}, or fewer "
      "than {} effective draws), so that their figures say little. {}{}.",
      RaceResult::kMostRhat, RaceResult::kLeastEss, report.longer, can_be ? report.tempered : "");
}

OrderedJson command_json(const CompareReport& report, const RaceResult& r) {
  return report.command ? OrderedJson(report.command(r)) : OrderedJson(nullptr);
}

OrderedJson race_verdict_json(const CompareReport& report, const Verdict& v) {
  if (v.best < 0) return nullptr;
  OrderedJson j;
  j["sampler"] = report.name(v.best);
  j["command"] = command_json(report, report.results[static_cast<std::size_t>(v.best)]);
  j["next"] = nullptr;
  if (v.second >= 0) j["next"] = report.name(v.second);
  j["ratio"] = json_number(v.ratio);
  j["low"] = json_number(v.low);
  j["high"] = json_number(v.high);
  j["clear"] = v.clear();
  return j;
}

OrderedJson race_result_json(const CompareReport& report, std::size_t i) {
  const RaceResult& r = report.results[i];
  const RunStatistics& s = r.statistics;
  OrderedJson j;
  j["sampler"] = r.contender.sampler;
  j["tempered"] = r.contender.tempered;
  if (r.contender.tempered) j["replicas"] = r.replicas;
  j["settings"] = r.settings();
  j["parameters"] = parameters_json(r.parameters);
  j["command"] = command_json(report, r);
  j["exact"] = r.exact;
  j["random"] = r.random;
  j["ranked"] = report.ranked(i);
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
  j["rhat"] = r.random ? json_rhat(r.rhat()) : OrderedJson(nullptr);
  j["error"] = json_number(report.outcome.error[i]);
  j["bias_l1"] = json_number(report.outcome.bias[i]);
  return j;
}

}  // namespace

std::vector<std::size_t> CompareReport::by_merit(bool of_ranked) const {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (ranked(i) == of_ranked) order.push_back(i);
  }
  const auto merit = [&](std::size_t i) {
    const double v = results[i].ess_per_second();
    return v > 0 ? v : -1;
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return merit(a) > merit(b); });
  return order;
}

std::string CompareReport::sentence(const Verdict& v, const std::string& per) const {
  if (v.best < 0) return no_winner(*this);
  const std::string best = name(v.best);
  if (v.second < 0) {
    std::size_t exact = 0;
    for (std::size_t i = 0; i < results.size(); ++i) exact += ranked(i);
    return fmt::format("Per {}: {} is the only exact one here{}.", per, best,
                       exact > 1 ? " whose chains have mixed" : "");
  }
  const std::string by =
      fmt::format("{:.2f} times (95 % interval {:.2f} to {:.2f})", v.ratio, v.low, v.high);
  if (!v.clear()) {
    return fmt::format("Per {}: {} and {} cannot be told apart in this time{}.", per, best,
                       name(v.second),
                       v.telling() ? "; the ratio of their effective sample sizes is " + by : "");
  }
  return fmt::format("Per {}: {} is best, with {} the effective sample size of {}, the next.", per,
                     name(v.best), by, name(v.second));
}

OrderedJson compare_json(const CompareReport& report) {
  OrderedJson j;
  j["model"] = report.target.name();
  add_constraint(j, report.target);
  j["dim"] = report.target.domain().dim();
  if (report.whole) j["given"] = given_json(report.whole->given);
  j["chains"] = report.plan.chains;
  j["budget"] = report.plan.seconds;
  j["seed"] = report.plan.seed;
  auto list = OrderedJson::array();
  for (bool of_ranked : {true, false}) {
    for (std::size_t i : report.by_merit(of_ranked)) list.push_back(race_result_json(report, i));
  }
  j["results"] = std::move(list);
  j["best"] = race_verdict_json(report, report.outcome.per_second);
  j["best_per_evaluation"] = race_verdict_json(report, report.outcome.per_evaluation);
  j["sentence"] = report.sentence(report.outcome.per_second, "second");
  j["modes"] = report.outcome.modes;
  j["exact_known"] = report.outcome.exact.has_value();
  j["seconds"] = json_number(report.outcome.seconds);
  j["instruction_set"] = ops::name(ops::active_level());
  j["version"] = version();
  return j;
}

}  // namespace saltus
