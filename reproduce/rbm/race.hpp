// Samplers on a restricted Boltzmann machine: how close the states of their chains come to samples
// of it, how often they accept, and how long they take.
#pragma once

#include "reproduce/entrant.hpp"
#include "reproduce/rbm/machine.hpp"

namespace saltus::reproduce {

constexpr std::uint64_t kMmdEvery = 10;  // steps between two points of a curve

inline Entrant dmala(double alpha) {
  return {"DMALA", "dmala", alpha};
}

// One run of all chains from the same states.
struct Course {
  std::vector<double> log_mmd;               // ln MMD^2 (V-statistic) after kMmdEvery steps, ...
  std::vector<double> acceptance, proposed;  // means over chains and each kMmdEvery steps
  double u_statistic = 0;                    // of MMD^2, at the end
  double seconds = 0;                        // of one core, for the sampler alone
  RowBuffer<Symbol> last;                    // the chains' last states

  // Mean of `values` over steps from + 1 to `to`.
  static double mean(const std::vector<double>& values, std::uint64_t from, std::uint64_t to);
};

// All runs of one sampler on one machine.
struct Standing {
  Entrant entrant;
  std::vector<Course> runs;
  Measured log_mmd() const;  // at the end
  Measured seconds() const;
};

// Of all samplers on one machine.
struct Race {
  const Machine* machine;
  MmdReference reference;
  std::vector<Standing> standings;

  const Standing& of(const std::string& name) const;
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
