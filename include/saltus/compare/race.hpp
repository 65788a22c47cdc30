// A race between samplers on one target: the same number of chains, the same start, the same time,
// in turns, so that a change in the machine's mood touches all of them alike.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "saltus/core/error.hpp"
#include "saltus/run/batch_means.hpp"
#include "saltus/run/run.hpp"
#include "saltus/sampler/registry.hpp"
#include "saltus/target/independent.hpp"

namespace saltus {

// A sampler with its parameters; what is not given is tuned or left at its default.
struct Contender {
  std::string sampler;
  Settings settings;
  bool tempered = false;      // along a ladder of temperatures
  std::string label() const;  // "gwg", "gwg:flips=3", "gwg tempered"
  std::string name() const;   // the same without settings
};

// From "NAME" or "NAME:KEY=VALUE:KEY=VALUE". Throws UsageError.
Contender parse_contender(const std::string& text);

// Every sampler that can serve the target, with parameters that suit a race: whole sweeps rather
// than single updates, tuning where there is something to tune.
std::vector<Contender> all_contenders(const Target& target);

struct RacePlan {
  int chains = 8;
  double seconds = 2;           // of drawing, for each contender
  double warmup_seconds = 0.5;  // about, for each contender
  int turns = 4;
  std::uint64_t seed = 1;
  int threads = 0;
  std::shared_ptr<const Independent> base;  // where ladders begin; null: uniform
};

struct RaceResult {
  Contender contender;
  std::vector<Parameter> parameters;  // as tuned
  bool exact = true, random = true, enumerable = true;
  RunStatistics statistics;
  std::uint64_t warmup = 0, thin = 1, draws = 0;
  std::vector<int> coordinates;  // that the estimates are of
  BatchMeans::Estimate estimate;
  double log_ess_error = 0;  // standard error of the log of ess_of_means
  // Per step of all chains together, in gradient evaluations: log p alone counts a half, a local
  // difference one part in the number of coordinates.
  double evaluations_per_step = 0;
  // Of a tempered contender, whose chains are ensembles and whose steps are scans.
  int replicas = 0;
  std::uint64_t round_trips = 0;

  double ess() const { return estimate.ess_of_means; }
  double rhat() const;  // the largest; NaN when nothing ever changed
  // As on an idle machine: what other programs do meanwhile does not count.
  double ess_per_second() const { return ess() / statistics.idle_seconds_of_draws; }
  double ess_per_evaluation() const {
    return ess() / (evaluations_per_step * static_cast<double>(statistics.steps));
  }
};

// One contender's run, in as many slices as wanted.
class Racer {
 public:
  // Warms up. `slice` is about how long the slices will be, in seconds.
  Racer(const Target& target, const Contender& contender, const RacePlan& plan, double slice);
  ~Racer();
  void draw(double seconds);
  RaceResult result() const;
  const Sampler& sampler() const;

 private:
  const Target& target_;
  Contender contender_;
  std::unique_ptr<BatchMeans> record_;
  std::unique_ptr<DrawingRun> run_;
};

// Told before each turn of each contender: which of how many turns; false stops the race.
using RaceProgress = std::function<bool(const std::string& label, int turn, int turns)>;

std::vector<RaceResult> race(const Target& target, const std::vector<Contender>& contenders,
                             const RacePlan& plan, const RaceProgress& progress = {});

// Who won, by how much, and how sure that is: the ratio of the best exact contender to the next
// one, with a 95 % interval. Unadjusted and deterministic contenders do not take part, nor do those
// without an effective sample size.
struct Verdict {
  int best = -1, second = -1;  // places among the results; -1: none
  double ratio = 1, low = 1, high = 1;
  bool clear() const { return second >= 0 && low > 1; }
};
Verdict judge(const std::vector<RaceResult>& results,
              double (RaceResult::*measure)() const = &RaceResult::ess_per_second);

// Why plain chains may have missed modes, as a clause: "plain chains disagree (R-hat 3.21)". Empty
// where nothing says so. The chains of the best are asked, those of most exact contenders, and,
// where the space is small, the exact means.
std::string sign_of_modes(const Target& target, const std::vector<RaceResult>& plain,
                          std::size_t best);

// The best of the contenders that can be tempered, along a ladder of temperatures. Nothing where
// there is none, or where `progress` stops it.
std::optional<RaceResult> race_tempered(const Target& target,
                                        const std::vector<RaceResult>& results,
                                        const RacePlan& plan, const RaceProgress& progress = {});

// A short race among the exact samplers that the target supports, half of the field dropping out at
// each turn. Takes about `seconds`; 0: a quarter of what the planned run would take with the first
// of them, within reason. Where the chains of the best seem to miss modes, it is raced once more
// along a ladder of temperatures, and is to be tempered if that does better.
struct Choice {
  Contender winner;
  std::vector<RaceResult> results;  // in the order of dropping out, the winner last
  double seconds = 0;
  std::string modes;           // what spoke for tempering, where it was raced (sign_of_modes)
  std::string reason() const;  // why the winner won
};
struct NoExactSampler : UsageError {  // none can serve the target
  using UsageError::UsageError;
};
// May the winner be tempered, and where does its ladder begin (null: uniform)?
struct TemperingChoice {
  bool allowed = true;
  std::shared_ptr<const Independent> base = nullptr;
};
Choice choose_sampler(const Target& target, const RunPlan& plan, double seconds = 0,
                      const TemperingChoice& tempering = {});

}  // namespace saltus
