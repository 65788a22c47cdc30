// Distances between an estimate and the exact answer. Both arguments must have the same length.
#pragma once

#include <span>

namespace saltus {

// sqrt(mean_i (estimate_i - exact_i)^2); NaN for no entries at all.
double rmse(std::span<const double> estimate, std::span<const double> exact);

// sum_i |p_i - q_i|
double l1(std::span<const double> p, std::span<const double> q);

// Half the l1 distance: the largest difference of the probabilities that p and q give to one event.
double total_variation(std::span<const double> p, std::span<const double> q);

}  // namespace saltus
