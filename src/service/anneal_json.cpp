#include <cmath>

#include "saltus/version.hpp"
#include "service/result_json.hpp"

namespace saltus {
namespace {

OrderedJson tts_json(const AnnealResult& r) {
  if (!r.time_to_solution) return nullptr;
  const TimeToSolution& t = *r.time_to_solution;
  const double steps = static_cast<double>(r.betas.size());
  const double seconds = r.seconds / static_cast<double>(r.restarts.logp.size());
  const auto times = [](std::optional<double> restarts, double each) {
    return restarts ? json_number(*restarts * each) : OrderedJson(nullptr);
  };
  return {{"steps", times(t.restarts, steps)},
          {"seconds", times(t.restarts, seconds)},
          {"low", t.low * steps},
          {"high", times(t.high, steps)},
          {"seconds_low", t.low * seconds},
          {"seconds_high", times(t.high, seconds)}};
}

OrderedJson objective_of_search(const AnnealRequest& request, const AnnealResult& result) {
  const auto& objective = request.objective;
  if (!objective || !result.best) return nullptr;
  return {{"name", objective->name},
          {"sense", objective->maximise ? "max" : "min"},
          {"best", json_number(objective->of_state(result.best->logp))},
          {"mean", json_number(objective->value(result.quantiles.mean))}};
}

OrderedJson ratio_json(std::optional<double> ratio) {
  return ratio ? json_number(*ratio) : OrderedJson(nullptr);
}

OrderedJson first_reach_json(const std::optional<FirstReach>& first) {
  if (!first) return nullptr;
  return {{"step", first->step}, {"evaluations", first->evaluations}, {"seconds", first->seconds}};
}

OrderedJson whole_or_real(double v) {
  const bool whole = v == std::trunc(v) && std::abs(v) < 0x1p53;
  return whole ? OrderedJson(static_cast<std::int64_t>(v)) : json_number(v);
}

OrderedJson problem_json(const AnnealRequest& request, const AnnealResult& result) {
  const auto& state = result.report;
  if (!state) return nullptr;
  OrderedJson j = {
      {"name", request.problem->name()},
      {"feasible", state->feasible ? OrderedJson(*state->feasible) : OrderedJson(nullptr)},
      {"text", state->text}};
  for (const auto& [name, value] : state->numbers) j[name] = whole_or_real(value);
  return j;
}

OrderedJson solution_json(const AnnealRequest& request, const AnnealResult& result) {
  const auto& solution = result.solution;
  if (!solution) return nullptr;
  return {{"value", whole_or_real(solution->value)},
          {"goal_ratio", ratio_json(goal_ratio(request, solution->value))},
          {"repaired", solution->repaired},
          {"restart", solution->restart},
          {"state", solution->state}};
}

OrderedJson best_state_json(const std::optional<BestState>& best) {
  if (!best) return nullptr;
  return {{"logp", json_number(best->logp)},
          {"energy", json_number(-best->logp)},
          {"state", best->state},
          {"restart", best->restart},
          {"pilot", best->pilot()},
          {"step", best->step}};
}

}  // namespace

std::optional<double> goal_ratio(const AnnealRequest& request, double best) {
  if (!request.objective || !request.goal) return std::nullopt;
  const double goal = request.objective->of_state(*request.goal);
  return goal == 0 ? std::nullopt : std::optional(best / goal);
}

std::optional<double> goal_ratio(const AnnealRequest& request, const AnnealResult& result) {
  if (!request.objective || !result.best) return std::nullopt;
  return goal_ratio(request, request.objective->of_state(result.best->logp));
}

OrderedJson anneal_json(const AnnealRequest& request, const AnnealResult& r,
                        const std::string& model, const std::string& schedule) {
  using Json = OrderedJson;
  const RestartQuantiles& q = r.quantiles;
  Json j;
  const Target& target = request.whole ? *request.whole->target : *request.target;
  j["model"] = model;
  add_constraint(j, target);
  j["dimension"] = target.domain().dim();
  if (request.whole) j["given"] = given_json(request.whole->given);
  j["complete"] = r.complete;
  j["best"] = best_state_json(r.best);
  j["objective"] = objective_of_search(request, r);
  add_labels(j, request.labels);
  j["goal"] = r.best ? json_number(r.goal) : Json(nullptr);
  j["goal_is"] = request.goal ? "given" : "best found";
  j["goal_ratio"] = ratio_json(goal_ratio(request, r));
  j["problem"] = problem_json(request, r);
  j["solution"] = solution_json(request, r);
  j["reached"] = r.reached;
  j["first_reached"] = first_reach_json(r.first_reach);
  j["restarts"] = r.restarts.logp.size();
  j["success"] =
      r.time_to_solution
          ? Json{{"mean", r.success.mean}, {"low", r.success.low}, {"high", r.success.high}}
          : Json(nullptr);
  j["tts99"] = tts_json(r);
  j["population"] = r.population ? Json{{"log_z", json_number(r.population->log_z)},
                                        {"families", r.population->families},
                                        {"rho_t", json_number(r.population->rho_t)}}
                                 : Json(nullptr);
  j["quantiles"] = r.restarts.logp.empty()
                       ? Json(nullptr)
                       : Json{{"least", q.least}, {"q25", q.q25},         {"median", q.median},
                              {"q75", q.q75},     {"largest", q.largest}, {"mean", q.mean}};
  j["steps"] = request.steps;
  j["steps_made"] = r.steps_made;
  j["schedule"] = {{"kind", schedule},
                   {"first", r.betas.empty() ? Json(nullptr) : Json(r.betas.front())},
                   {"last", r.betas.empty() ? Json(nullptr) : Json(r.betas.back())},
                   {"betas", long_list("betas")}};
  j["sampler"] = r.sampler.name;
  j["parameters"] = parameters_json(r.parameters);
  j["polish"] = request.polish;
  j["seed"] = request.seed;
  j["warnings"] = warnings_json(r.warnings);
  j["verdict"] = verdict_of(r.warnings);
  j["seconds"] = r.seconds;
  j["total_seconds"] = r.total_seconds;
  j["version"] = version();
  return j;
}

}  // namespace saltus
