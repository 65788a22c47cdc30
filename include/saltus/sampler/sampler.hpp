// Sampler: one transition of a tile of chains. A sampler is a value: parameters only.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "saltus/core/philox.hpp"
#include "saltus/target/target.hpp"

namespace saltus {

class Sampler;
class StateTable;

// A sampler's parameter as it is in force, for reports.
struct Parameter {
  std::string name;
  std::variant<bool, std::int64_t, double, std::string> value;
};

// What the next step of some chains needs, and nothing else: their states, logp and score there,
// what the target keeps per row (Target::cache_size) and what the sampler does
// (Sampler::cache_size). Row r is chain first_chain + r, at place first_slot + r.
struct Tile {
  Rows<Symbol> x;
  Rows<float> score, target_cache, sampler_cache;
  double* logp = nullptr;
  // False after a step that left the value behind the state.
  bool logp_current = true, score_current = true, target_cache_current = true;
  std::uint32_t first_chain = 0;  // names the random streams of the first row
  std::uint32_t first_slot = 0;   // its place in arrays of all chains of the process
  std::uint64_t step = 0;

  int rows() const { return x.rows; }
};

// What one step did to one chain.
struct StepInfo {
  double acceptance = 1;       // probability with which the proposal was accepted
  std::uint32_t proposed = 0;  // coordinates that the proposal changes
  std::uint32_t changed = 0;   // coordinates that did change
  bool accepted = true;
  bool nonfinite = false;  // logp or the acceptance ratio was not finite: rejected
  // The tuned parameter that the step belongs to, a place in Tunable::tuning, or kNotTuned.
  std::uint16_t tuning = 0;
  static constexpr std::uint16_t kNotTuned = 0xFFFF;
};

// What some steps did to one chain.
struct StepSums {
  double acceptance = 0;
  std::uint64_t steps = 0, accepted = 0, proposed = 0, changed = 0;
  std::uint64_t empty = 0, moved = 0;  // steps that proposed no change, and that made one
  std::uint64_t nonfinite = 0;
};

// Evaluations of the target, counted per row; and, where a target can change single coordinates at
// less cost, of how many coordinates the difference of logp or the score was computed that way.
struct Evaluations {
  std::uint64_t logp = 0, gradient = 0, local = 0;
};

// What a thread lends to a step: room for a proposal, memory, and the random seed.
struct Workspace {
  Tile proposal;            // as large as the tile
  Scratch scratch;          // the target's
  Scratch sampler_scratch;  // the sampler's
  Scratch parts;            // that of a sampler made of others, which use `sampler_scratch`
  std::uint64_t seed = 0;
  bool want_logp = true;  // the caller will read logp after this step
  Evaluations evaluations;

  At at(std::uint64_t step) { return {seed, step, scratch}; }
  // The random numbers of row r in this step.
  Stream stream(const Tile& tile, int r, Purpose purpose) const {
    return {seed, tile.first_chain + static_cast<std::uint32_t>(r), tile.step, purpose};
  }
};

// One tuned parameter, on a scale on which a change by one matters about equally everywhere; larger
// means bolder.
struct Tuning {
  double start, low, high;
  double acceptance;                    // the mean acceptance probability to reach
  std::string parameter = "step_size";  // what is tuned, for reports
  // Far from 0 the value goes with the target's steepness itself, not with its logarithm: where
  // that changes by orders of magnitude, so do the steps that tuning has to make.
  bool proportional = false;
};

// A sampler whose boldness warm-up can find.
class Tunable {
 public:
  virtual ~Tunable() = default;

  // At least one. A step says which one it belongs to (StepInfo::tuning); it is tuned by these
  // steps alone.
  virtual std::vector<Tuning> tuning() const = 0;

  // The sampler at a value of each tuned parameter, to be used in warm-up or, finally, for draws.
  enum class Phase { warmup, draws };
  virtual std::unique_ptr<Sampler> tuned(std::span<const double> values, Phase phase) const = 0;
};

// A sampler whose exact transition probabilities can be written down for a small space. The
// conformance checks are made of them.
class Enumerable {
 public:
  virtual ~Enumerable() = default;

  struct When {
    std::uint64_t seed = 1, step = 0;
  };
  // A sampler that visits coordinates in turn has a different kernel at each of `phases`
  // consecutive steps; which one may depend on the seed.
  virtual int phases(const Domain&) const { return 1; }

  // The exact probabilities T(x, y) of one transition between all states, and the expected
  // acceptance probability of each state.
  virtual void transition_matrix(const StateTable& table, const When& when, Rows<double> matrix,
                                 std::span<double> acceptance) const = 0;
};

// A name and a step make a sampler; everything else has a default.
class Sampler {
 public:
  virtual ~Sampler() = default;

  virtual std::string name() const = 0;
  virtual std::vector<Parameter> parameters() const { return {}; }

  // The step size now in force, where the sampler has one.
  virtual std::optional<double> step_size() const { return std::nullopt; }

  // Leaves the target invariant. False for unadjusted samplers, whose draws are biased.
  virtual bool exact() const { return true; }
  // Satisfies detailed balance with respect to its stationary law on every target: `verify` checks
  // it where a sampler says so.
  virtual bool reversible() const { return false; }

  // What the target lacks for this sampler, in words that complete "the sampler needs ..."; empty
  // when it lacks nothing. By default an exact sampler needs log p itself, because of its
  // Metropolis test. The registry and runs ask `lacking`, which sees to constraints as well.
  virtual std::string missing(const Target& target) const;

  // Its steps stay among the states that the target's constraint allows (Target::constraint).
  // Samplers that do not say so are refused where there is one.
  virtual bool keeps_constraint() const { return false; }

  // What must be there on entry to a step beside the states.
  struct Needs {
    bool logp = true, score = true, target_cache = false;
  };
  virtual Needs needs(const Target&) const { return {exact(), true, false}; }

  // True when steps bring logp, score or cached values up to date from their old values instead of
  // evaluating afresh. They then carry rounding along, and a checkpoint must keep them.
  virtual bool accumulates_rounding(const Target&) const { return false; }

  // Values that the sampler keeps per chain from step to step, and their start from the tile's
  // states (with what `needs` asks for at hand).
  virtual int cache_size(const Target&) const { return 0; }
  // Two samplers with the same key can share cached values. At most 64 characters.
  virtual std::string cache_key() const { return name(); }
  virtual void start(const Target&, Tile&, Workspace&) const {}

  // True when chains influence one another: all of them are then one tile.
  virtual bool interacting() const { return false; }

  // One transition of every row. On entry the tile holds what `needs` asks for; on return that of
  // the new states, with the tile's *_current flags saying what was left behind, and step has grown
  // by one. Does not allocate once its memory has grown.
  virtual void step(const Target& target, Tile& tile, Workspace& work,
                    std::span<StepInfo> info) const = 0;

  // Its draws are random. False for a deterministic flow of particles, which has no effective
  // sample size.
  virtual bool random() const { return true; }

  // What else it can do; null where it cannot. A sampler with nothing to tune is not tunable, and
  // one whose chains live on more than the states is not enumerable.
  virtual const Tunable* tunable() const { return nullptr; }
  virtual const Enumerable* enumerable() const { return nullptr; }
};

// What the target lacks for the sampler (Sampler::missing); empty when it can serve.
std::string lacking(const Sampler& sampler, const Target& target);

// Throws UsageError when the target lacks something that the sampler needs.
void require(const Sampler& sampler, const Target& target);

// Before a step: evaluates what the sampler needs and an earlier step left stale. Returns what was
// evaluated.
Sampler::Needs make_ready(const Sampler& sampler, const Target& target, Tile& tile,
                          Workspace& work);

}  // namespace saltus
