#include "saltus/compare.hpp"

#include <cmath>

#include "saltus/core/error.hpp"
#include "saltus/diagnose/conformance.hpp"
#include "saltus/diagnose/distance.hpp"
#include "saltus/run/pacer.hpp"
#include "service/parts.hpp"

namespace saltus {
namespace {

std::vector<Contender> settled(const CompareRequest& request) {
  if (request.contenders.empty()) return all_contenders(*request.target);
  for (const Contender& c : request.contenders) {
    make_sampler(c.sampler, *request.target, c.settings);  // refuses what does not fit
  }
  return request.contenders;
}

// The L1 distance of an unadjusted sampler's law from the model, with the step size as tuned.
double bias_of(const RaceResult& r, const Target& target, const StateTable& table) {
  const auto sampler = make_sampler(r.contender.sampler, target, r.settings());
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
  if (count_states(target, StateTable::kMostStates)) table.emplace(target);
  for (std::size_t i = 0; i < result.results.size(); ++i) {
    const RaceResult& r = result.results[i];
    std::vector<double> exact;
    for (int c : r.coordinates) exact.push_back(result.exact->means[static_cast<std::size_t>(c)]);
    result.error[i] = rmse(r.estimate.mean, exact);
    if (!r.exact && r.enumerable && table) result.bias[i] = bias_of(r, target, *table);
  }
}

void put_parameter(ByteWriter& out, const Parameter& p) {
  put_text(out, p.name);
  out.put(p.value.index());
  const auto put = [&](const auto& value) {
    if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::string>) {
      put_text(out, value);
    } else {
      out.put(value);
    }
  };
  std::visit(put, p.value);
}

Parameter get_parameter(ByteReader& in) {
  Parameter p{get_text(in), false};
  switch (in.get<std::size_t>()) {
    case 0:
      p.value = in.get<bool>();
      break;
    case 1:
      p.value = in.get<std::int64_t>();
      break;
    case 2:
      p.value = in.get<double>();
      break;
    default:
      p.value = get_text(in);
  }
  return p;
}

// All of a result but its contender, which the leader knows.
void put_result(ByteWriter& out, const RaceResult& r) {
  out.put(r.parameters.size());
  for (const Parameter& p : r.parameters) put_parameter(out, p);
  out.put(r.exact, r.random, r.enumerable, r.statistics, r.warmup, r.thin, r.draws);
  out.put(r.log_ess_error, r.evaluations_per_step, r.replicas, r.round_trips);
  out.put_array(std::span<const int>(r.coordinates));
  for (const auto* values : {&r.estimate.mean, &r.estimate.ess, &r.estimate.rhat}) {
    out.put_array(std::span<const double>(*values));
  }
  out.put(r.estimate.ess_of_means);
}

RaceResult get_result(ByteReader& in, Contender contender) {
  RaceResult r;
  r.contender = std::move(contender);
  const auto parameters = in.get<std::size_t>();
  for (std::size_t k = 0; k < parameters; ++k) r.parameters.push_back(get_parameter(in));
  in.get(r.exact, r.random, r.enumerable, r.statistics, r.warmup, r.thin, r.draws);
  in.get(r.log_ess_error, r.evaluations_per_step, r.replicas, r.round_trips);
  const auto get_all = [&]<class T>(std::vector<T>& values) {
    values.resize(in.next_array_length(sizeof(T)));
    in.get_array(std::span(values));
  };
  get_all(r.coordinates);
  get_all(r.estimate.mean), get_all(r.estimate.ess), get_all(r.estimate.rhat);
  in.get(r.estimate.ess_of_means);
  return r;
}

// Contender c is raced by member c mod their number. The results of all, for the leader; none where
// a member was stopped.
std::vector<RaceResult> shared_race(const CompareRequest& request,
                                    const std::vector<Contender>& contenders,
                                    const RaceProgress& progress) {
  Team& team = *request.team;
  const auto members = static_cast<std::size_t>(team.size());
  std::vector<Contender> mine;
  for (auto c = static_cast<std::size_t>(team.rank()); c < contenders.size(); c += members) {
    mine.push_back(contenders[c]);
  }
  bool complete = true;
  const RaceProgress told = [&](const std::string& label, int turn, int turns) {
    return complete = progress(label, turn, turns);
  };
  const std::vector<RaceResult> results = race(*request.target, mine, request.plan, told);
  ByteWriter out;
  out.put(complete);
  for (std::size_t k = 0; complete && k < results.size(); ++k) put_result(out, results[k]);
  const std::vector<std::vector<std::byte>> parts = team.collect(out.bytes());
  std::vector<ByteReader> in(parts.begin(), parts.end());
  for (ByteReader& part : in) complete = part.get<bool>() && complete;
  std::vector<RaceResult> all;
  for (std::size_t c = 0; complete && team.leads() && c < contenders.size(); ++c) {
    all.push_back(get_result(in[c % members], contenders[c]));
  }
  return all;
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
  const std::vector<Contender> contenders = settled(request);
  result.results = request.team ? shared_race(request, contenders, told)
                                : race(target, contenders, request.plan, told);
  if (request.team && result.results.empty()) result.complete = false;
  if (!result.complete) {
    result.results.clear();
    return result;
  }
  if (const int first = leader(result.results); first >= 0) {
    result.modes = sign_of_modes(target, result.results, static_cast<std::size_t>(first));
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
  for (RaceResult& r : result.results) {
    r.wrong = r.exact && r.random && misses_exact_means(target, r);
  }
  result.per_second = judge(result.results);
  result.per_evaluation = judge(result.results, &RaceResult::ess_per_evaluation);
  result.seconds = watch.seconds();
  return result;
}

}  // namespace saltus
