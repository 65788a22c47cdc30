// Is a sampler right? Exact checks on a small space, for our samplers and for users' own.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "saltus/diagnose/exact.hpp"
#include "saltus/sampler/sampler.hpp"

namespace saltus {

struct Conformance {
  double rows = 0;           // largest |sum of a row - 1|; infinite when an entry is negative
  double invariance = 0;     // largest |pi T - pi|
  double reversibility = 0;  // largest |pi_x T_xy - pi_y T_yx|
  double acceptance = 0;     // mean acceptance probability under pi
  // Every state can be reached. Where not, there is no one stationary law: it is left empty, l1
  // NaN.
  bool irreducible = true;
  int classes = 1;  // of states that lead to one another, those of probability 0 apart; 32: or more
  // The law that the kernel really leaves invariant, and its distance from pi.
  std::vector<double> stationary;
  double l1 = 0;
};

// From the exact transition matrix, which needs StateTable::kMostStates states at most. Where the
// sampler's kernels take turns (Enumerable::phases) every one of them is checked; the defects are
// the worst ones, and the stationary law is that of one kernel after the other. Throws UsageError
// for a sampler that is not enumerable.
Conformance check_transitions(const Sampler& sampler, const StateTable& table);

// The law that T leaves invariant; empty when T falls apart into parts that do not lead to one
// another.
std::vector<double> stationary_law(Rows<const double> matrix);

// The modulus of the second largest eigenvalue of the sampler's kernel, by which the slowest part
// of an error shrinks at each step: -1 / log of it is the relaxation time in steps. Where kernels
// take turns, the one of all in turn, and its root for a step. Takes some ten times the cube of the
// number of states.
double second_eigenvalue(const Sampler& sampler, const StateTable& table);

// Do the steps that the sampler really takes follow its transition matrix? Takes `steps` steps from
// every state that has weight, the sampler's phases in turn, and compares the counts with the
// matrix: Pearson's chi-square over all cells whose expectation is at least 5, smaller ones pooled
// by row.
struct StepCheck {
  double chi_square = 0;
  double degrees = 0;
  double p_value = 1;
  std::uint64_t steps = 0;
  bool impossible = false;  // a transition was seen that has probability zero
};
StepCheck check_steps(const Sampler& sampler, const Target& target, const StateTable& table,
                      std::uint64_t steps, std::uint64_t seed = 1);

}  // namespace saltus
