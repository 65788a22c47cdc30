// The ladder of parallel tempering: inverse temperatures 0 = beta_0 < ... < beta_N = 1 with a slot
// at each, and what follows from how often swaps of neighbouring slots are rejected. Syed,
// Bouchard-Cote, Deligiannidis & Doucet, "Non-reversible parallel tempering", JRSS B 84, 2022.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace saltus {

// The probability with which the states of two slots change places, given V = log p - log p_0 at
// each: min(1, exp((beta_high - beta_low) (V_low - V_high))). 0 where that is not a number.
double swap_probability(double beta_low, double beta_high, double v_low, double v_high);

// The lengths of the rounds of a warm-up: 2, 4, 8, ... scans; the last round takes all that is left
// when another one and as long a rest would not fit. The ladder changes after each.
std::vector<std::uint64_t> warmup_rounds(std::uint64_t scans);

// N + 1 betas between which swaps are about equally often rejected, by linear interpolation of the
// cumulated rejection of the present ladder. rejection[k] belongs to slots k and k + 1.
std::vector<double> equal_rejection_ladder(std::span<const double> betas,
                                           std::span<const double> rejection, int pairs);

// The global communication barrier, Lambda: the sum of the rejection rates. A little too low for a
// coarse ladder.
double barrier(std::span<const double> rejection);
// False where log p - log p_0 is constant, so that no swap is ever rejected.
bool has_barrier(std::span<const double> rejection);

// Round trips of all replicas per scan, if exploring made V independent of what it was before.
double round_trip_rate(std::span<const double> rejection);

// Pairs of neighbours, N, that give most round trips for the work: 2 Lambda, where half of the
// swaps are rejected. At least 2 and at most 512, and at most a factor 2 away from the present
// number, because a ladder that is far too coarse hides a part of the barrier. 1 where there is no
// barrier.
int better_pairs(std::span<const double> rejection);

}  // namespace saltus
