// The best state of a model, by simulated annealing or by population annealing.
//
//   AnnealRequest request(load_model("model.json"));
//   const AnnealResult result = anneal(request);
//   ... result.best->logp, result.best->state, result.reached, result.time_to_solution
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "saltus/anneal/schedule.hpp"
#include "saltus/anneal/search.hpp"
#include "saltus/anneal/time_to_solution.hpp"
#include "saltus/core/warning.hpp"
#include "saltus/io/model_file.hpp"
#include "saltus/run/reduction.hpp"
#include "saltus/run/team.hpp"
#include "saltus/sampler/registry.hpp"

namespace saltus {

// A sampler with its settings.
struct SamplerChoice {
  std::string name;
  Settings settings;
};

// The sampler that a search takes where none is named: Gibbs sweeps where a coordinate is cheaply
// drawn (pairwise models of two levels, sparse models), otherwise dmala.
SamplerChoice recommended_search_sampler(const Target& target);

struct AnnealRequest {
  AnnealRequest() = default;
  explicit AnnealRequest(std::shared_ptr<const Target> of) : target(std::move(of)) {}
  explicit AnnealRequest(Model model);  // with the model's objective

  std::shared_ptr<const Target> target;
  std::optional<Objective> objective;
  std::shared_ptr<const Problem> problem;  // judges the states that are found
  Labels labels;                           // of the model's coordinates, where it has some
  // Where values are given: `target` has the free coordinates alone, states of the result have all.
  std::shared_ptr<const WholeModel> whole = {};
  std::string sampler = "auto";  // auto: recommended_search_sampler
  Settings settings;

  bool population = false;  // population annealing: restarts are resampled before each step
  ScheduleKind schedule = ScheduleKind::adaptive;
  std::optional<double> first, last;  // betas; none: default_range
  int steps = 1000;
  int restarts = 100;
  bool polish = true;          // greedy ascent from the best states
  std::optional<double> goal;  // log p to reach; none: the best found
  double time_limit = 0;       // seconds after which it stops; 0: none

  std::uint64_t seed = 1;
  int threads = 0;  // 0: all cores; never changes a result

  // A part of a larger search has the restarts from first_restart on, and those of the pilot that
  // are its own, 32 in all parts together and none in some of them. Parts call the reduction at the
  // same steps; `judge` takes what they found together.
  std::uint32_t first_restart = 0;
  ChainRange pilots = {0, 32};
  Reduction* reduction = nullptr;

  bool in_lanes = true;  // see SearchPlan

  // Processes that share the restarts of the search, all with this request; the result is the
  // leader's, with the bits of one process. The leader's clock and callback stop the restarts
  // between two rounds; the pilot runs to its end.
  Team* team = nullptr;
};

// Quantiles of log p over restarts.
struct RestartQuantiles {
  double least = 0, q25 = 0, median = 0, q75 = 0, largest = 0, mean = 0;
};

struct BestState {
  double logp = 0;
  std::vector<Symbol> state;
  std::uint32_t restart = 0;  // its name; those of the pilot count from kPilotRestarts
  std::uint64_t step = 0;     // 0: the start
  bool pilot() const;
};
inline constexpr std::uint32_t kPilotRestarts = 0x80000000u;

// The best state that the problem allows, after repair where that was needed.
struct Solution {
  double value = 0;  // what is to be large
  std::vector<Symbol> state;
  std::uint32_t restart = 0;
  int repaired = 0;  // coordinates that the repair changed
};

// When the first restart had reached the goal, at the latest.
struct FirstReach {
  std::uint64_t step = 0;
  std::uint64_t evaluations = 0;  // steps of all restarts up to then
  double seconds = 0;
};

struct AnnealResult {
  bool complete = false;  // false: time was up, or the callback said so
  std::size_t steps_made = 0;
  Found restarts, pilot;      // log p computed anew; of the pilot empty where there was none
  std::vector<double> betas;  // the schedule; empty where even the pilot was stopped
  SamplerChoice sampler;
  std::vector<Parameter> parameters;  // of the sampler, as they ended
  bool in_lanes = false;
  std::optional<Population> population;
  double seconds = 0;        // of the restarts alone
  double total_seconds = 0;  // with pilot and polish

  // What `judge` adds.
  std::optional<BestState> best;
  double goal = 0;  // log p; the best found where none was given
  int reached = 0;  // restarts that reached it
  SuccessRate success;
  // In restarts; none where they were stopped, or are not independent: a population.
  std::optional<TimeToSolution> time_to_solution;
  std::optional<FirstReach> first_reach;  // none where no restart has reached it
  RestartQuantiles quantiles;
  std::optional<StateReport> report;  // of the best state, where the request names a problem
  std::optional<Solution> solution;   // where the problem can repair states
  Warnings warnings;
};

// The best state and how often it, or the goal, was reached.
void judge(const AnnealRequest& request, AnnealResult& result);

struct AnnealStatus {
  enum class Stage { range, pilot, restarts, polish } stage;
  double done = 0;     // part of the stage
  double best = 0;     // log p so far; NaN at first
  double seconds = 0;  // since the beginning
};

// Told now and then; false stops the work.
using AnnealProgress = std::function<bool(const AnnealStatus&)>;

// Throws UsageError and DataError.
AnnealResult anneal(const AnnealRequest& request, const AnnealProgress& progress = {});

}  // namespace saltus
