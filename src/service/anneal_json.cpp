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

OrderedJson anneal_json(const AnnealRequest& request, const AnnealResult& r,
                        const std::string& model, const std::string& schedule) {
  using Json = OrderedJson;
  const RestartQuantiles& q = r.quantiles;
  Json j;
  j["model"] = model;
  j["dimension"] = request.target->domain().dim();
  j["complete"] = r.complete;
  j["best"] = best_state_json(r.best);
  j["objective"] = objective_of_search(request, r);
  if (!request.labels.empty()) j["labels"] = labels_json(request.labels);
  j["goal"] = r.best ? json_number(r.goal) : Json(nullptr);
  j["goal_is"] = request.goal ? "given" : "best found";
  j["reached"] = r.reached;
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
