// The restricted Boltzmann machines of the comparison, each with the states that samplers start
// from and are compared with; and samplers on them: how close the states of their chains come to
// samples of it, how often they accept, and how long they take.
#pragma once

#include <memory>
#include <optional>

#include "reproduce/experiment.hpp"
#include "saltus/core/rows.hpp"
#include "saltus/diagnose/mmd.hpp"
#include "saltus/target/rbm.hpp"

namespace saltus::reproduce {

struct Machine {
  static constexpr int kReference = 500, kSecond = 100, kStart = 100;

  std::string name;   // "trained", "trained 2", "reference"
  bool shown = true;  // with Block-Gibbs, DMALA without its step-size term, and pictures
  bool whole = true;  // made with all of the paper's effort
  std::unique_ptr<const Rbm> target;
  std::vector<double> mean;   // of the independent bits that chains start from
  RowBuffer<Symbol> samples;  // of long block-Gibbs chains: kReference rows, then kSecond
  RowBuffer<Symbol> start;    // the same for every seed; empty: drawn anew
  double training_seconds = 0, sampling_seconds = 0;  // of the clock; 0 where it was read

  Rows<const Symbol> reference() const;  // Y, which chains are compared with
  Rows<const Symbol> second() const;     // what is left: a perfect sampler's states
  // kStart rows, the same for all samplers.
  RowBuffer<Symbol> start_states(std::uint64_t seed) const;
};

// What goes into a machine; these are the paper's numbers.
struct Effort {
  std::uint64_t iterations = 600;  // batches of 100: one epoch
  std::uint64_t sweeps = 10'000;   // of the chains whose states are the samples
  bool operator==(const Effort&) const = default;
};

// 784 visible and 500 hidden units, trained by CD-10 with a seed of its own.
Machine trained_machine(Context& context, Rows<const Symbol> data, const Effort& effort,
                        std::uint64_t seed);
// That of the data set rbm_reference; none when its files are not there.
std::optional<Machine> published_machine(const std::filesystem::path& data);

// What the V-statistic is for perfect samples.
struct Floor {
  double second_set;  // ln MMD^2 of the second set against Y
  double formula;     // ln of (1/100 + 1/500) (1 - E k)
  double mean, sd;    // of ln MMD^2 over random splits of the samples into 500 and 100
};
Floor floor_of(const Machine& machine, const MmdReference& reference, std::uint64_t seed);

constexpr std::uint64_t kMmdEvery = 10;  // steps between two points of a curve
// Samplers whose steps cost less go on for the comparison at equal time, with fewer points.
constexpr std::uint64_t kLateEvery = 100;

inline Entrant dmala(double alpha) {
  return {"DMALA", "dmala", alpha};
}

// One run of all chains from the same states.
struct Course {
  std::vector<double> log_mmd;               // ln MMD^2 (V-statistic) after kMmdEvery steps, ...
  std::vector<double> acceptance, proposed;  // means over chains and each kMmdEvery steps
  double u_statistic = 0;                    // of MMD^2, after these
  double seconds = 0;                        // of one core, for the sampler alone
  RowBuffer<Symbol> last;                    // the chains' states then
  std::vector<double> late_log_mmd;          // after kLateEvery more steps, ...
  double late_seconds = 0;

  std::uint64_t steps() const { return log_mmd.size() * kMmdEvery; }
  std::uint64_t all_steps() const { return steps() + late_log_mmd.size() * kLateEvery; }
  double seconds_per_step() const {
    return (seconds + late_seconds) / static_cast<double>(all_steps());
  }
  // At the point next to that many steps.
  double log_mmd_after(double steps) const;

  // Mean of `values` over steps from + 1 to `to`.
  static double mean(const std::vector<double>& values, std::uint64_t from, std::uint64_t to);
};

// All runs of one sampler on one machine.
struct Standing {
  Entrant entrant;
  std::vector<Course> runs;
  Measured log_mmd() const;  // at the end
  Measured seconds() const;
  Measured seconds_per_step() const;
};

// Of all samplers on one machine.
struct Race {
  const Machine* machine;
  MmdReference samples;
  Floor floor;
  std::uint64_t steps;
  std::vector<Standing> standings = {};
  bool alone = true;  // judged by itself, not together with other trainings

  bool on_reference() const { return machine->name == "reference"; }
  const Standing& of(const std::string& name) const { return named(standings, name); }
  // The processor seconds in which samplers are compared: those of DMALA for all its steps.
  double equal_time() const;
  // Of a run of one less that of the other with the same seed: after all steps, or in equal time.
  Measured difference(const std::string& of, const std::string& less, bool in_time) const;
  Json rbm() const { return {{"rbm", machine->name}}; }
  Json setting(const Standing& s) const { return with(s.entrant.setting(rbm()), "steps", steps); }
};

// DMALA with every seed, the others with the first five of them at most.
std::vector<Race> run_races(Context& context, const std::vector<Machine>& machines,
                            std::uint64_t steps);

// Mean acceptance probability and proposed changes of DMALA in equilibrium: steps from the
// machine's samples. Errors are over chains.
struct Equilibrium {
  Measured acceptance, proposed;
};
Equilibrium in_equilibrium(const Machine& machine, double alpha, std::uint64_t steps,
                           std::uint64_t seed);

}  // namespace saltus::reproduce
