// Run: warm-up and draws of many chains, in rounds. Rounds are the only synchronisation:
// adaptation, recording to files and checkpoints happen between them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "saltus/run/adapt.hpp"
#include "saltus/run/ensemble.hpp"
#include "saltus/run/recorder.hpp"
#include "saltus/run/reduction.hpp"

namespace saltus {

struct RunPlan {
  int chains = 4;                 // of this run
  std::uint32_t first_chain = 0;  // the name of the first of them, on which its draws depend
  std::uint64_t warmup = 1000;    // steps
  std::uint64_t draws = 10000;    // of each chain
  std::uint64_t thin = 1;         // steps per draw
  std::uint64_t seed = 1;
  int threads = 0;                 // 0: all cores; never changes a draw
  int tile = 0;                    // chains advanced together; 0: what the target prefers
  double round_seconds = 0.05;     // about how long a round takes; never changes a draw
  Reduction* reduction = nullptr;  // joins this run with others that have other chains of the same
};

// Sums over the steps after warm-up of all chains.
struct RunStatistics {
  std::uint64_t steps = 0;  // of each chain
  double acceptance = 0;    // means over chains and steps
  double accepted = 0, proposed = 0, changed = 0;
  // Shares of steps: whose proposal changes nothing; that changed the state.
  double empty = 0, moved = 0;
  // Chains that stand still: fewer than one in a hundred of their steps changed the state, and they
  // have made a hundred or more. Means over all chains do not show them.
  int still_chains = 0;
  std::uint64_t nonfinite = 0;
  double logp_evaluations = 0, gradient_evaluations = 0;  // per chain and step
  double local_differences = 0;                           // coordinates, per chain and step
  double seconds = 0;                                     // warm-up and draws
  double seconds_of_draws = 0;
  // What the draws of this process would take on an idle machine: processor time, divided by the
  // threads that share the work. On a device the same as by the clock.
  double idle_seconds_of_draws = 0;
};

// Where a run stands, between rounds.
struct RunStatus {
  bool warming_up = false;
  std::uint64_t step = 0, steps = 0;  // done and planned, warm-up included
  double seconds = 0;                 // since go()
  double steps_per_second = 0;        // recently
  double acceptance = 0;              // of the last round
};

class Run {
 public:
  // Throws UsageError when the sampler does not suit the target.
  Run(const Target& target, std::shared_ptr<const Sampler> sampler, const RunPlan& plan);

  // Recorders receive every draw. They must outlive the run.
  void add(Recorder& recorder) { recorders_.push_back(&recorder); }

  // Starts all chains at random states, or at the given ones.
  void start();
  void start(Rows<const Symbol> states);

  // Calls start() if nobody has, and makes rounds until all draws are made, or until
  // `between_rounds` returns false. True when all are made.
  bool go(const std::function<bool(const RunStatus&)>& between_rounds = {});

  // Ends warm-up at the step where it is, with the tuning reached so far.
  void end_warmup();

  const RunPlan& plan() const { return plan_; }
  const Sampler& chosen() const { return *original_; }  // whose draws these are
  // As tuned so far: in warm-up it may be another one (dmala, for dula).
  const Sampler& sampler() const { return *current_; }
  bool warming_up() const { return ensemble_.step() < plan_.warmup; }
  std::uint64_t draws_made() const;
  int tile_size() const { return ensemble_.tile_size(); }
  const Symbol* state(int chain) const { return ensemble_.state(chain); }
  RunStatistics statistics() const;

  // All that is needed to go on, recorders included.
  void save(ByteWriter& out) const;
  void restore(ByteReader& in);

 private:
  struct ChainTotals {
    double acceptance = 0;
    std::uint64_t accepted = 0, proposed = 0, changed = 0, empty = 0, moved = 0, nonfinite = 0;
  };
  class Observer;

  void warmup_round();
  void begin_draws();
  void draw_round();
  double acceptance_of_round() const;
  std::uint64_t round_length(std::uint64_t planned, std::uint64_t step_cost) const;

  const Target& target_;
  std::shared_ptr<const Sampler> original_, current_;  // as given; as tuned so far
  RunPlan plan_;
  Ensemble ensemble_;
  bool started_ = false;
  std::optional<Tuner> tuner_;
  std::uint64_t tuning_length_ = 0;  // steps of a tuning round
  std::vector<Recorder*> recorders_;

  std::vector<ChainTotals> totals_;       // since the end of warm-up
  std::vector<double> round_acceptance_;  // by chain
  std::uint64_t round_steps_ = 1;  // length of the last free round; grows to take round_seconds
  double round_seconds_ = 0;
  Evaluations evaluations_before_;  // by an earlier process
  double seconds_ = 0, seconds_of_draws_ = 0, idle_seconds_of_draws_ = 0;
};

}  // namespace saltus
