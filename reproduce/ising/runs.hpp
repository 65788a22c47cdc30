// The 5 x 5 Ising model of the paper's comparisons: samplers with their settings, and runs of them.
#pragma once

#include <vector>

#include "reproduce/experiment.hpp"
#include "saltus/target/ising_lattice.hpp"

namespace saltus::reproduce::ising {

// Exact means of the 5 x 5 Ising model on a torus, log p = a s'Ws + b sum s, by transfer matrices.
// The mean of a spin.
double ising_mean(double a, double b);
// Its mean under the stationary law of DULA, pi(s) prod_i (1 + exp(l_i(s))) up to a constant, with
// l_i = -s_i (2 a sum of neighbours + b) - 1 / (2 alpha) the log-odds of a flip.
double ising_dula_mean(double a, double b, double alpha);
// How many coordinates DULA and DMALA propose to change, on average over the target.
double ising_proposed_changes(double a, double b, double alpha);

// log p = a s'Ws + b sum s on a torus.
inline constexpr double kA = 0.1, kB = 0.2;
inline constexpr std::uint64_t kSteps = 50'000;
inline constexpr std::uint64_t kEvery = 1000;  // steps between points of a curve

struct Entrant : reproduce::Entrant {
  bool weighed = true;  // takes part in the comparison by effective sample size
};
Entrant dmala(double alpha);
Entrant dula(double alpha);
Entrant gwg(int flips);
Entrant gibbs();

// Of two chains.
struct Outcome {
  std::vector<double> log_rmse;  // after kEvery, 2 kEvery, ... steps
  std::vector<double> ess;       // of each site of chain 0, first 10 % dropped
  double seconds = 0;            // of this thread
};

// Two chains from sites that are +1 with probability sigma(2 b): the same for every sampler. The
// error is of each chain and site, not of the pooled mean: natural log of
// sqrt(mean over chains and sites of (running mean - exact)^2).
Outcome run_pair(const IsingLattice& target, double exact, const Entrant& entrant,
                 std::uint64_t steps, std::uint64_t seed);

// The parts of the experiment, each with its rows and its section of the page.
void add_boldness(Context& context, Results& results);      // Figure 2, left
void add_race(Context& context, Results& results);          // Figure 3, and Figure 2, right
void add_floor(Context& context, Results& results);         // what limits DULA
void add_connectivity(Context& context, Results& results);  // other couplings a

}  // namespace saltus::reproduce::ising
