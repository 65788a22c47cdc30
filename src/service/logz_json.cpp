#include <cmath>
#include <numeric>

#include "saltus/version.hpp"
#include "service/result_json.hpp"
#include "temper/tempering_json.hpp"

namespace saltus {
namespace {

OrderedJson estimate_json(const AisEstimate& e) {
  const double sum = std::accumulate(e.log_weights.begin(), e.log_weights.end(), 0.0);
  return {{"log_z", json_number(e.log_z)},
          {"standard_error", json_number(e.standard_error)},
          {"ess", json_number(e.ess)},
          {"mean_log_weight", json_number(sum / static_cast<double>(e.log_weights.size()))},
          {"acceptance_rate", json_number(e.acceptance)}};
}

void add_annealing(OrderedJson& j, const LogzRequest& request, const AisResult& r) {
  const AnnealingPlan& plan = request.plan.annealing;
  j["ess"] = json_number(r.forward.ess);
  j["forward"] = estimate_json(r.forward);
  j["reverse"] = r.reverse ? estimate_json(*r.reverse) : OrderedJson(nullptr);
  j["betas"] = plan.betas.size();
  j["steps_per_beta"] = plan.steps_per_beta;
  j["chains"] = plan.chains;
  j["parameters"] = parameters_json(r.parameters);
}

void add_tempering(OrderedJson& j, const LogzRequest& request, const LogzResult& result) {
  const LogzTempering& plan = *request.tempering;
  j["tempering"] = tempering_json(*result.tempering);
  j["tempering"]["ensembles"] = plan.run.chains;
  j["tempering"]["warmup"] = plan.run.warmup;
  j["tempering"]["draws"] = plan.run.draws;
  j["tempering"]["steps"] = plan.steps;
  j["tempering"]["seconds"] = result.tempering_seconds;
}

}  // namespace

OrderedJson logz_json(const LogzRequest& request, const LogzResult& result,
                      const LogzNames& names) {
  const auto& annealed = result.estimate;
  OrderedJson j;
  const Target& target = names.whole ? *names.whole->target : *request.target;
  j["model"] = target.name();
  add_constraint(j, target);
  j["dimension"] = target.domain().dim();
  if (names.whole) j["given"] = given_json(names.whole->given);
  j["method"] = names.method;
  j["log_z"] = json_number(annealed ? annealed->forward.log_z : result.tempering->log_z);
  j["standard_error"] =
      json_number(annealed ? annealed->forward.standard_error : result.tempering->log_z_error);
  j["interval"] = {json_number(result.low()), json_number(result.high())};
  if (annealed) add_annealing(j, request, *annealed);
  if (result.tempering) add_tempering(j, request, result);
  j["exact"] = result.exact ? json_number(*result.exact) : OrderedJson(nullptr);
  j["test"] = nullptr;
  if (result.mean_logp) {
    j["test"] = {
        {"data", names.test},
        {"rows", names.test_rows},
        {"mean_logp", json_number(*result.mean_logp)},
        {"log_likelihood",
         {json_number(result.log_likelihood->low), json_number(result.log_likelihood->high)}}};
  }
  j["base"] = names.base;
  j["sampler"] = request.sampler;
  j["seed"] = request.plan.annealing.seed;
  j["warnings"] = warnings_json(result.warnings);
  j["verdict"] = verdict_of(result.warnings);
  j["seconds"] = (annealed ? annealed->seconds : 0) + result.tempering_seconds;
  j["version"] = version();
  return j;
}

}  // namespace saltus
