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
#include "saltus/run/team.hpp"

namespace saltus {

// Where chains start. Dispersed: chains 0, 1 of four at the lowest and at the highest level of all
// coordinates, and the others at random, so that chains which stay in the mode where they began
// disagree; unordered levels take turns, one chain of four is random. Chains then take a few
// Gibbs sweeps, where the target can do them, away from states that no chain would ever visit.
enum class Start { random, dispersed };

struct RunPlan {
  int chains = 4;                 // of this run
  std::uint32_t first_chain = 0;  // the name of the first of them, on which its draws depend
  std::uint64_t warmup = 1000;    // steps
  std::uint64_t draws = 10000;    // of each chain
  std::uint64_t thin = 1;         // steps per draw
  std::uint64_t seed = 1;
  Start start = Start::random;
  int threads = 0;                 // 0: all cores; never changes a draw
  int tile = 0;                    // chains advanced together; 0: what the target prefers
  double round_seconds = 0.05;     // about how long a round takes; never changes a draw
  Reduction* reduction = nullptr;  // joins this run with others that have other chains of the same
  Team* team = nullptr;            // the same, where the others also make the same rounds
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
  double idle_seconds = 0;            // the same, as it would be on an idle machine
  double steps_per_second = 0;        // recently
  double acceptance = 0;              // of the last round
};

// Warm-up and draws in rounds, whatever makes the draws: plain chains (Run, below) or ensembles of
// a ladder of temperatures (temper/parallel_tempering.hpp), which count scans as steps.
class DrawingRun {
 public:
  virtual ~DrawingRun() = default;

  // Recorders receive every draw. They must outlive the run.
  void add(Recorder& recorder) { recorders_.push_back(&recorder); }

  // Starts all chains where the run starts them itself.
  virtual void start() = 0;
  // Calls start() if nobody has, and makes rounds until all draws are made, or until
  // `between_rounds` returns false. True when all are made.
  bool go(const std::function<bool(const RunStatus&)>& between_rounds = {});

  const RunPlan& plan() const { return plan_; }
  virtual const Sampler& chosen() const = 0;  // whose draws these are
  // As tuned so far: in warm-up it may be another one (dmala, for dula).
  virtual const Sampler& sampler() const = 0;
  bool warming_up() const { return step() < plan_.warmup; }
  std::uint64_t draws_made() const;
  virtual int tile_size() const = 0;
  virtual const Symbol* state(int chain) const = 0;
  RunStatistics statistics() const;

  // All that is needed to go on, recorders included. In a team all members do this together.
  virtual void save(ByteWriter& out) const = 0;
  virtual void restore(ByteReader& in) = 0;

 protected:
  explicit DrawingRun(const RunPlan& plan);

  virtual std::uint64_t step() const = 0;       // steps that are made
  virtual int threads() const = 0;              // that share the work
  virtual Evaluations evaluations() const = 0;  // since the end of warm-up, by this process
  virtual bool on_device() const { return false; }
  virtual int steps_each() const { return 1; }  // transitions of what counts as a step
  virtual void warmup_round() = 0;
  virtual void draw_round(std::uint64_t steps) = 0;

  // Of the chain at a place, by the thread that runs it: in every round; and of steps after
  // warm-up.
  void add_to_round(std::size_t chain, const StepInfo& info) {
    round_acceptance_[chain] += info.acceptance;
  }
  void add_to_totals(std::size_t chain, const StepInfo& info) {
    ChainTotals& t = totals_[chain];
    t.acceptance += info.acceptance;
    t.accepted += info.accepted;
    t.proposed += info.proposed;
    t.changed += info.changed;
    t.empty += info.proposed == 0;
    t.moved += info.changed > 0;
    t.nonfinite += info.nonfinite;
  }
  void add_to_round(std::size_t chain, const StepSums& sums) {
    round_acceptance_[chain] += sums.acceptance;
  }
  void add_to_totals(std::size_t chain, const StepSums& sums) {
    ChainTotals& t = totals_[chain];
    t.acceptance += sums.acceptance;
    t.accepted += sums.accepted;
    t.proposed += sums.proposed;
    t.changed += sums.changed;
    t.empty += sums.empty;
    t.moved += sums.moved;
    t.nonfinite += sums.nonfinite;
  }
  void record(const Tile& tile, std::span<const StepInfo> info, std::uint64_t draw) const {
    for (Recorder* r : recorders_) r->record(tile, info, draw);
  }
  bool recorders_want_logp() const;
  std::uint64_t round_length(std::uint64_t left, std::uint64_t unit);
  void forget_evaluations() { evaluations_before_ = {}; }
  void save_totals(ByteWriter& out) const;  // and what was recorded
  void restore_totals(ByteReader& in);

  RunPlan plan_;
  bool started_ = false;

 private:
  struct ChainTotals {
    double acceptance = 0;
    std::uint64_t accepted = 0, proposed = 0, changed = 0, empty = 0, moved = 0, nonfinite = 0;
  };
  double acceptance_of_round() const;
  Evaluations all_evaluations() const;

  std::vector<Recorder*> recorders_;
  std::vector<ChainTotals> totals_;       // since the end of warm-up
  std::vector<double> round_acceptance_;  // by chain
  std::uint64_t round_steps_ = 1;  // length of the last free round; grows to take round_seconds
  double round_seconds_ = 0;
  Evaluations evaluations_before_;  // by an earlier process
  double seconds_ = 0, seconds_of_draws_ = 0, idle_seconds_of_draws_ = 0;
};

class Run final : public DrawingRun {
 public:
  // Throws UsageError when the sampler does not suit the target.
  Run(const Target& target, std::shared_ptr<const Sampler> sampler, const RunPlan& plan);

  // Starts all chains at random states, or at the given ones.
  void start() override;
  void start(Rows<const Symbol> states);

  // Ends warm-up at the step where it is, with the tuning reached so far.
  void end_warmup();

  const Sampler& chosen() const override { return *original_; }
  const Sampler& sampler() const override { return *current_; }
  int tile_size() const override { return ensemble_.tile_size(); }
  const Symbol* state(int chain) const override { return ensemble_.state(chain); }

  void save(ByteWriter& out) const override;
  void restore(ByteReader& in) override;

 private:
  class Observer;

  void settle();
  std::uint64_t step() const override { return ensemble_.step(); }
  int threads() const override { return ensemble_.threads(); }
  Evaluations evaluations() const override { return ensemble_.evaluations(); }
  bool on_device() const override { return target_.on_device() != nullptr; }
  void warmup_round() override;
  void begin_draws();
  void draw_round(std::uint64_t steps) override;

  const Target& target_;
  std::shared_ptr<const Sampler> original_, current_;  // as given; as tuned so far
  Ensemble ensemble_;
  std::optional<Tuner> tuner_;
  std::uint64_t tuning_length_ = 0;  // steps of a tuning round
};

}  // namespace saltus
