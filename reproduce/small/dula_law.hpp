// The stationary law of DULA where it is known in closed form: on a log-quadratic target,
//
//   pi_alpha(x)  proportional to  pi(x) Z_alpha(x),   Z_alpha(x) = prod_i sum_k exp(a_ik(x)),
//
// with a_ik the log-weights of the proposal and a = 0 for the current level (Theorem 1's proof).
#pragma once

#include <span>
#include <vector>

#include "saltus/diagnose/exact.hpp"

namespace saltus::reproduce {

// log Z_alpha of every state, to full relative precision however small. A change of a coordinate
// costs `penalty`.
std::vector<double> log_normalizers(const StateTable& table, double penalty);

// The law proportional to probability * exp(log_factor), and its l1 distance from `probability`:
// computed by expm1, so that a distance of 1e-30 has all its digits.
std::vector<double> tilted(std::span<const double> probability, std::span<const double> log_factor);
double l1_of_tilt(std::span<const double> probability, std::span<const double> log_factor);

}  // namespace saltus::reproduce
