#include <sys/resource.h>

#include "ops/ops.hpp"
#include "saltus/version.hpp"
#include "service/result_json.hpp"
#include "temper/tempering_json.hpp"

namespace saltus {
namespace {

std::uint64_t peak_memory() {
  rusage use{};
  getrusage(RUSAGE_SELF, &use);
  return static_cast<std::uint64_t>(use.ru_maxrss) * 1024;
}

OrderedJson objective_of_sample(const SampleResult& r) {
  return {{"name", r.objective->objective.name},
          {"sense", r.objective->objective.maximise ? "max" : "min"},
          {"best", json_number(r.objective->best)},
          {"mean", json_number(r.objective->mean)}};
}

OrderedJson probe_json(const SampleResult& r) {
  if (!r.probe) return nullptr;
  return {{"searches", r.probe->searches},
          {"elsewhere", r.probe->elsewhere},
          {"higher", r.probe->higher}};
}

OrderedJson choice_json(const Choice& choice, const std::string& repeat) {
  auto field = OrderedJson::array();
  for (auto r = choice.results.rbegin(); r != choice.results.rend(); ++r) {
    field.push_back({{"sampler", r->contender.sampler},
                     {"tempered", r->contender.tempered},
                     {"settings", r->contender.settings},
                     {"ess_per_second", json_number(r->ess_per_second)},
                     {"rhat", json_rhat(r->rhat)},
                     {"mixed", r->mixed}});
  }
  return {{"reason", choice.reason()},
          {"command", repeat.empty() ? OrderedJson(nullptr) : OrderedJson(repeat)},
          {"kept", choice.kept},
          {"seconds", choice.seconds},
          {"race", field}};
}

}  // namespace

OrderedJson sample_json(const SampleResult& r, const ClassLists& classes,
                        const std::string& repeat) {
  const RunStatistics& s = r.statistics;
  const std::vector<double> ess = column(r.summaries, &CoordinateSummary::ess_bulk);
  OrderedJson j;
  j["model"] = r.target->name();
  add_constraint(j, *r.target);
  j["dim"] = r.target->domain().dim();
  if (r.whole) j["given"] = given_json(r.whole->given);
  j["sampler"] = r.sampler;
  j["parameters"] = parameters_json(r.parameters);
  if (r.choice) j["auto"] = choice_json(*r.choice, repeat);
  if (r.tempering) j["tempering"] = tempering_json(*r.tempering);
  j["chains"] = r.plan.chains;
  j["warmup"] = r.plan.warmup;
  j["draws"] = r.draws_made;
  j["thin"] = r.plan.thin;
  j["seed"] = r.plan.seed;
  j["seconds"] = json_number(s.seconds);
  j["steps_per_second"] = json_number(static_cast<double>(s.steps) / s.seconds_of_draws);
  j["acceptance_rate"] = json_number(s.acceptance);
  j["accepted"] = json_number(s.accepted);
  j["proposed_changes"] = json_number(s.proposed);
  j["changes"] = json_number(s.changed);
  j["empty_proposals"] = json_number(s.empty);
  j["moved"] = json_number(s.moved);
  j["still_chains"] = s.still_chains;
  j["evaluations"] = {{"logp", json_number(s.logp_evaluations)},
                      {"gradient", json_number(s.gradient_evaluations)}};
  if (s.local_differences > 0) j["evaluations"]["local"] = json_number(s.local_differences);
  j["nonfinite"] = s.nonfinite;
  j["mean"] = long_list("mean");
  if (!classes.level.empty()) j["classes"] = classes.json();
  j["ess"] = {{"min", json_number(least(ess))},
              {"median", json_number(median(ess))},
              {"coordinates", r.watched.size()}};
  j["rhat"] = {{"max", json_rhat(largest(column(r.summaries, &CoordinateSummary::rhat)))}};
  j["observables"] = observables_json(r.observables);
  j["best"] = best_json(r.best);
  if (r.objective) j["objective"] = objective_of_sample(r);
  add_labels(j, r.labels);
  j["probe"] = probe_json(r);
  j["warnings"] = warnings_json(r.warnings);
  j["verdict"] = verdict_of(r.warnings);
  j["peak_memory_bytes"] = peak_memory();
  j["complete"] = r.complete;
  j["tile"] = r.tile;
  j["instruction_set"] = ops::name(ops::active_level());
  j["version"] = version();
  return j;
}

void write_sample_json(const SampleResult& r, const std::string& repeat, int indent,
                       const std::function<void(std::string_view)>& out) {
  const ClassLists classes = class_lists(r);
  const std::vector<double> best = best_levels(r.best);
  LongLists lists = {{"mean", r.mean}, {"best.state", {best, true}}};
  classes.put_into(lists);
  write_json(sample_json(r, classes, repeat), lists, indent, out);
}

}  // namespace saltus
