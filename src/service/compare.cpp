#include "saltus/compare.hpp"

#include <fmt/core.h>

#include <cmath>

#include "saltus/core/error.hpp"
#include "saltus/diagnose/conformance.hpp"
#include "saltus/diagnose/distance.hpp"
#include "saltus/run/pacer.hpp"
#include "service/parts.hpp"

namespace saltus {
namespace {

std::vector<Contender> settled(const CompareRequest& request) {
  std::vector<Contender> all = all_contenders(*request.target);
  if (request.contenders.empty()) return all;
  std::vector<Contender> list = request.contenders;
  for (Contender& c : list) {
    for (const Contender& known : all) {
      if (known.sampler == c.sampler && c.settings.empty()) c = known;
    }
    make_sampler(c.sampler, *request.target, c.settings);  // refuses what does not fit
  }
  return list;
}

// The L1 distance of an unadjusted sampler's law from the model, with the step size as tuned.
double bias_of(const RaceResult& r, const Target& target, const StateTable& table) {
  Settings settings = r.contender.settings;
  for (const Parameter& p : r.parameters) {
    if (const double* v = std::get_if<double>(&p.value); v && p.name.ends_with("step_size")) {
      settings[p.name] = fmt::format("{}", *v);
    }
  }
  const auto sampler = make_sampler(r.contender.sampler, target, settings);
  return check_transitions(*sampler, table).l1;
}

// The bias of unadjusted samplers where it can be computed, and everyone's error where the exact
// means are known.
void add_exact_answers(CompareResult& result, const Target& target, int threads) {
  result.error.assign(result.results.size(), NAN);
  result.bias.assign(result.results.size(), NAN);
  result.exact = affordable_exact_answer(target, threads);
  if (!result.exact) return;
  std::optional<StateTable> table;
  if (target.domain().states(StateTable::kMostStates)) table.emplace(target);
  for (std::size_t i = 0; i < result.results.size(); ++i) {
    const RaceResult& r = result.results[i];
    std::vector<double> exact;
    for (int c : r.coordinates) exact.push_back(result.exact->means[static_cast<std::size_t>(c)]);
    result.error[i] = rmse(r.estimate.mean, exact);
    if (!r.exact && r.enumerable && table) result.bias[i] = bias_of(r, target, *table);
  }
}

}  // namespace

CompareResult compare(const CompareRequest& request, const RaceProgress& progress) {
  if (!request.target) throw UsageError("there is no target to compare samplers on");
  const Target& target = *request.target;
  const Stopwatch watch;
  CompareResult result;
  const RaceProgress told = [&](const std::string& label, int turn, int turns) {
    result.complete = result.complete && (!progress || progress(label, turn, turns));
    return result.complete;
  };
  result.results = race(target, settled(request), request.plan, told);
  if (!result.complete) {
    result.results.clear();
    return result;
  }
  if (const Verdict plain = judge(result.results); plain.best >= 0) {
    result.modes = sign_of_modes(target, result.results, static_cast<std::size_t>(plain.best));
  }
  if (!result.modes.empty()) {
    if (auto tempered = race_tempered(target, result.results, request.plan, told)) {
      result.results.push_back(std::move(*tempered));
    }
  }
  if (!result.complete) {
    result.results.clear();
    return result;
  }
  add_exact_answers(result, target, request.plan.threads);
  result.per_second = judge(result.results);
  result.per_evaluation = judge(result.results, &RaceResult::ess_per_evaluation);
  result.seconds = watch.seconds();
  return result;
}

}  // namespace saltus
