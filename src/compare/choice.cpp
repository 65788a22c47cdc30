#include "saltus/compare/choice.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "core/closest_name.hpp"
#include "saltus/core/error.hpp"
#include "saltus/core/stopwatch.hpp"
#include "saltus/target/constraint.hpp"

namespace saltus {
namespace {

constexpr double kMostRacedPairs = 1e5;  // that a step of locally_balanced weighs
constexpr double kPilotSeconds = 0.005, kShortestRace = 0.1, kLongestRace = 10;

std::vector<std::string> parameters_of(const std::string& sampler) {
  std::vector<std::string> list;
  for (const SamplerEntry& entry : sampler_entries()) {
    if (entry.name == sampler) list = entry.parameters;
  }
  for (const SamplerEntry& entry : constrained_sampler_entries()) {
    if (entry.name == sampler)
      list.insert(list.end(), entry.parameters.begin(), entry.parameters.end());
  }
  return list;
}

bool contains(const std::vector<std::string>& list, const std::string& word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

// Those that can be left to run alone: exact and random. What has to evaluate every neighbour of a
// state from scratch, or very many of them, is too slow to try.
bool serves_alone(const Target& target, const Contender& c) {
  const auto sampler = make_sampler(c.sampler, target, c.settings);
  const Constraint* k = target.constraint();
  const bool many_pairs =
      k && static_cast<double>(k->low()) * (k->dim() - k->low()) > kMostRacedPairs;
  const bool expands = (!target.local_moves() || many_pairs) && c.sampler == "locally_balanced";
  return sampler->exact() && sampler->random() && !expands;
}

// Gives the setting to every contender that has the parameter; those that refuse its value drop
// out.
void set_for_all(std::vector<Contender>& field, const Target& target, const std::string& key,
                 const std::string& value) {
  std::vector<std::string> known;
  std::vector<Contender> left;
  std::string refusal;
  bool taken = false;
  for (Contender& c : field) {
    const std::vector<std::string> parameters = parameters_of(c.sampler);
    for (const std::string& p : parameters) {
      if (!contains(known, p)) known.push_back(p);
    }
    if (contains(parameters, key)) {
      c.settings[key] = value;
      try {
        make_sampler(c.sampler, target, c.settings);
        taken = true;
      } catch (const UsageError& e) {
        refusal = e.what();
        continue;
      }
    }
    left.push_back(std::move(c));
  }
  if (!taken && !refusal.empty()) throw UsageError(refusal);
  if (!taken) {
    std::sort(known.begin(), known.end());
    std::string all;
    for (const std::string& p : known) all += (all.empty() ? "" : ", ") + p;
    throw UsageError("none of the samplers that race for this model has a parameter '" + key +
                     "'; they have " + all + did_you_mean(key, known));
  }
  field = std::move(left);
}

std::vector<Contender> candidates(const Target& target, const Settings& settings) {
  std::vector<Contender> field;
  for (Contender& c : all_contenders(target)) {
    if (serves_alone(target, c)) field.push_back(std::move(c));
  }
  if (field.empty()) throw NoExactSampler("no exact sampler can serve " + target.name());
  for (const auto& [key, value] : settings) set_for_all(field, target, key, value);
  return field;
}

Standing standing_of(const RaceResult& r) {
  return {r.contender, r.ess_per_second(), r.rhat(), r.mixed(), r.replicas};
}

// "3.2 times the effective sample size per second of dmala".
std::string lead(const Standing& won, const Standing& next, const std::string& whose) {
  const std::string name = whose + next.contender.sampler;
  if (!(next.ess_per_second > 0)) return "more effective draws than " + name + ", which has none";
  return fmt::format("{:.3g} times the effective sample size per second of {}",
                     won.ess_per_second / next.ess_per_second, name);
}

}  // namespace

std::string Choice::reason() const {
  const Standing& won = results.back();
  if (results.size() == 1) return "the only exact sampler for this model";
  const Standing& next = results[results.size() - 2];
  if (winner.tempered) {
    return fmt::format("tempered, because {} and {} along a ladder of {} temperatures has {}",
                       modes, winner.sampler, won.replicas, lead(won, next, "plain "));
  }
  if (!won.mixed) {
    return fmt::format(
        "a guess: in a race of {:.2g} s the chains of none of {} exact samplers have mixed; this "
        "one came furthest",
        seconds, results.size());
  }
  return fmt::format("best of {} exact samplers in a race of {:.2g} s, with {}", results.size(),
                     seconds, lead(won, next, ""));
}

namespace {

// Races the winner along a ladder, too, where plain chains seem to miss modes. It wins if its
// chains agree better and are worth more.
void consider_tempering(const Target& target, RacePlan plan, double seconds,
                        std::vector<RaceResult>& results, std::string& modes) {
  const RaceResult plain = results.back();
  modes = sign_of_modes(target, results, results.size() - 1);
  if (modes.empty()) return;
  plan.seconds = seconds / 2;
  plan.warmup_seconds = seconds / 4;
  const auto tempered = race_tempered(target, results, plan);
  if (!tempered) return;
  const bool right = !misses_exact_means(target, *tempered) && tempered->round_trips > 0 &&
                     tempered->rhat() < std::max(RaceResult::kMostRhat, plain.rhat());
  const bool better =
      !(plain.ess_per_second() > tempered->ess_per_second()) || misses_exact_means(target, plain);
  results.insert(results.end() - (right && better ? 0 : 1), *tempered);
}

double merit(const RaceResult& r) {
  const double value = r.ess_per_second();
  return value > 0 ? value : 0;
}

// Half of the field drops out at each turn. In the order of dropping out, the best last.
std::vector<RaceResult> knock_out(const Target& target, const std::vector<Contender>& field,
                                  RacePlan plan, double seconds) {
  const auto size = static_cast<double>(field.size());
  const double turns = std::max(1.0, std::ceil(std::log2(size)));
  const double first = seconds / turns / size;
  plan.warmup_seconds = first / 2;
  std::vector<std::unique_ptr<Racer>> racers;
  for (const Contender& c : field) {
    racers.push_back(std::make_unique<Racer>(target, c, plan, first));
  }
  std::vector<RaceResult> results;
  for (double slice = first / 2;; slice = seconds / turns / static_cast<double>(racers.size())) {
    for (const auto& racer : racers) racer->draw(slice);
    std::stable_sort(racers.begin(), racers.end(), [](const auto& a, const auto& b) {
      return merit(a->result()) > merit(b->result());
    });
    const std::size_t keep = (racers.size() + 1) / 2;
    while (racers.size() > keep) {
      results.push_back(racers.back()->result());
      racers.pop_back();
    }
    if (racers.size() == 1) break;
  }
  results.push_back(racers[0]->result());
  return results;
}

}  // namespace

Choice choose_sampler(const Target& target, const RunPlan& plan, const ChoiceOptions& options) {
  const Stopwatch watch;
  const std::vector<Contender> field = candidates(target, options.settings);
  double seconds = options.seconds;
  if (!(seconds > 0)) {
    const double steps = static_cast<double>(plan.warmup) +
                         static_cast<double>(plan.draws) * static_cast<double>(plan.thin);
    const double rate = steps_per_second(target, field[0], plan, kPilotSeconds);
    seconds = std::clamp(0.25 * steps / rate, kShortestRace, kLongestRace);
  }
  RacePlan race_plan;
  race_plan.chains = std::clamp(plan.chains, 8, 16);  // enough not to fall into one mode alike
  race_plan.base = options.base;
  race_plan.seed = plan.seed;
  race_plan.threads = plan.threads;
  std::vector<RaceResult> results = knock_out(target, field, race_plan, seconds);
  Choice choice;
  if (options.tempering) consider_tempering(target, race_plan, seconds, results, choice.modes);
  for (const RaceResult& r : results) choice.results.push_back(standing_of(r));
  choice.winner = results.back().contender;
  choice.seconds = watch.seconds();
  return choice;
}

}  // namespace saltus
