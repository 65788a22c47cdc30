// Parallel tempering, for targets with modes that plain chains do not travel between. An ensemble
// has a state in each slot of a ladder of temperatures, from a base that can be drawn from exactly
// to the model. A scan takes steps in every slot and then tries to exchange the states of
// neighbouring slots, pairs (0,1), (2,3), ... and pairs (1,2), (3,4), ... in turn, which is not
// reversible: a state that moved up goes on moving up. The draws are the states of the last slot.
//
// The ladder is adapted in the rounds of warm-up to equal rejection, and step sizes are tuned at
// every temperature; both are then frozen, so that draws come from one fixed kernel.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "saltus/run/adapt.hpp"
#include "saltus/run/run.hpp"
#include "saltus/temper/travels.hpp"

namespace saltus {

struct TemperingPlan {
  int replicas = 0;           // slots of the ladder; 0: as many as the barrier asks for
  std::vector<double> betas;  // the ladder itself, from 0 to 1; empty: adapted
  int steps = 1;              // in each slot between two exchanges
  // One for each slot above the base, where `betas` are given: in place of the run's sampler, as
  // they are, without tuning. Empty: the run's sampler, tuned in every slot.
  std::vector<std::shared_ptr<const Sampler>> samplers = {};
};

// What a ladder did while draws were made: all ensembles together, pairs and slots in their order.
struct TemperingReport {
  std::vector<double> betas;
  std::vector<double> rejection;   // of slots k and k + 1
  double barrier = 0;              // the sum of these
  int recommended_replicas = 0;    // for the most round trips per step
  std::uint64_t round_trips = 0;   // of states: from the base to the model and back
  std::uint64_t restarts = 0;      // states that came from the base to the model
  double round_trip_rate = 0;      // per ensemble and scan
  double rate_if_independent = 0;  // what the rejections allow
  double rate_bound = 0;           // what the barrier allows, with however many replicas
  // log Z from all slots: the bridge estimate with its standard error over ensembles (NaN for one
  // ensemble), and two that tend to be too low and too high.
  double log_z = 0, log_z_error = 0, log_z_forward = 0, log_z_backward = 0;
  double log_z_gap_error = 0;  // standard error of forward less backward
  // By slot; NaN for the base.
  std::vector<double> acceptance, step_size, correlation;  // of V before and after exploring
  // The slot of each replica of the first ensemble, scan by scan, for some hundred scans.
  std::vector<std::vector<std::uint16_t>> paths;
};

// The plan of the run counts scans where it says steps, and its chains are ensembles.
class ParallelTempering final : public DrawingRun {
 public:
  // The model must outlive this. Throws UsageError for a sampler that cannot serve, or when a plan
  // makes no sense.
  ParallelTempering(const Target& model, std::shared_ptr<const Independent> base,
                    std::shared_ptr<const Sampler> sampler, const RunPlan& run,
                    const TemperingPlan& tempering);
  ~ParallelTempering() override;

  // Starts all slots from draws of the base that the model allows. Throws DataError where a
  // thousand draws in a row are forbidden.
  void start() override;

  const Sampler& chosen() const override { return *original_; }
  const Sampler& sampler() const override { return *samplers_.front(); }  // of the last slot
  int tile_size() const override { return ensemble_->tile_size(); }
  const Symbol* state(int ensemble) const override { return ensemble_->state(ensemble); }
  // Since the end of warm-up, of the ensembles of all parts of the run, which must all call it.
  TemperingReport report() const;

  void save(ByteWriter& out) const override;
  void restore(ByteReader& in) override;

 private:
  class Observer;
  // log of a sum of exponentials.
  struct LogSum {
    double top = -INFINITY, sum = 0;
    void add(double log_term);
    double value() const;
  };
  // Of slots k and k + 1 of an ensemble: swaps tried, and means of exp of parts of V.
  struct PairSums {
    double acceptance = 0, tried = 0;
    LogSum forward, backward, half_forward, half_backward;
  };
  // Of a slot of an ensemble: V before and after exploring.
  struct SlotSums {
    double acceptance = 0, steps = 0;
    double count = 0, before = 0, after = 0, before2 = 0, after2 = 0, product = 0;
  };

  std::uint64_t step() const override { return scan_; }
  int threads() const override { return ensemble_->threads(); }
  Evaluations evaluations() const override { return ensemble_->evaluations(); }
  int steps_each() const override { return tempering_.steps; }
  void warmup_round() override;
  void draw_round(std::uint64_t scans) override;

  void check_samplers() const;
  int slots() const { return static_cast<int>(betas_.size()); }
  int pairs() const { return slots() - 1; }
  void make_ensemble();
  void make_tuners(const std::vector<std::vector<double>>& starts);
  void use_tuned(Tunable::Phase phase);
  void clear_sums();
  std::vector<double> rejection() const;
  void add_log_z(TemperingReport& report) const;
  void add_slots(TemperingReport& report) const;
  void end_warmup_round();
  void change_ladder(std::vector<double> betas);
  void run_scans(std::uint64_t count, bool draws);

  const Target& model_;
  std::shared_ptr<const Independent> base_;
  std::shared_ptr<const Sampler> original_;
  TemperingPlan tempering_;
  std::vector<std::uint64_t> rounds_;  // of warm-up
  std::size_t round_ = 0;
  std::uint64_t scan_ = 0, scans_in_round_ = 0;

  std::vector<double> betas_;                             // by slot
  std::unique_ptr<Ensemble> ensemble_;                    // groups from the last slot to the first
  std::vector<std::shared_ptr<const Sampler>> samplers_;  // by group
  std::vector<Tuner> tuners_;                             // by group, without the base's

  // By ensemble, then by slot or pair.
  std::vector<PairSums> pair_sums_;
  std::vector<SlotSums> slot_sums_;
  std::vector<Travels> travels_;
  std::vector<std::vector<std::uint16_t>> paths_;  // replica_of_slot of the first ensemble, by scan
};

}  // namespace saltus
