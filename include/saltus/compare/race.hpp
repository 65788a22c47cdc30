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

// Every sampler that can serve the target, as its name alone makes it.
std::vector<Contender> all_contenders(const Target& target);

// Of all chains, from a few steps.
double steps_per_second(const Target& target, const Contender& contender, RunPlan plan,
                        double seconds);

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
  bool wrong = false;  // the means are far from the exact ones, where these are known
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
  // Above this R-hat chains count as being in different places; with fewer effective draws no
  // figure of theirs is trusted.
  static constexpr double kMostRhat = 1.1, kLeastEss = 20;
  bool mixed() const;  // so that the figures say something
  // What makes the sampler again: all its settings, with what was tuned as it is. Tempered, it is
  // tuned at each temperature, so only what was given.
  Settings settings() const;
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
// whose chains have not mixed: nobody wins where none have.
struct Verdict {
  int best = -1, second = -1;  // places among the results; -1: none
  double ratio = 1, low = 1, high = 1;
  bool clear() const { return second >= 0 && low > 1; }
  bool telling() const;  // the interval is narrow enough to say something
};
Verdict judge(const std::vector<RaceResult>& results,
              double (RaceResult::*measure)() const = &RaceResult::ess_per_second);

// The exact contender with most effective draws per second, whether its chains have mixed or not;
// -1: none has an effective sample size.
int leader(const std::vector<RaceResult>& results);

// Why plain chains may have missed modes, as a clause: "plain chains disagree (R-hat 3.21)". Empty
// where nothing says so. The chains of the best are asked, those of most exact contenders, and,
// where the space is small, the exact means.
std::string sign_of_modes(const Target& target, const std::vector<RaceResult>& plain,
                          std::size_t best);
// The space is small, and a mean further from the exact one than chance explains.
bool misses_exact_means(const Target& target, const RaceResult& result);

// The best of the contenders that can be tempered, along a ladder of temperatures. Nothing where
// there is none, or where `progress` stops it.
std::optional<RaceResult> race_tempered(const Target& target,
                                        const std::vector<RaceResult>& results,
                                        const RacePlan& plan, const RaceProgress& progress = {});

}  // namespace saltus
