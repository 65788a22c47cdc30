// The direction in which weighted Stein variational gradient descent moves its particles.
#pragma once

#include <span>

#include "saltus/core/rows.hpp"
#include "saltus/core/scratch.hpp"

namespace saltus {

// weight = softmax of log_weight, in place. An entry that is not finite gets no weight; when none
// is finite, all weights are 0.
void softmax(std::span<double> log_weight);

// 1 / (1e-8 + 2 h), h = median / (2 ln(n + 1)), the median of all n^2 squared distances, zeros of
// the diagonal included (the mean of the two in the middle). Reorders `distances`.
double kernel_gamma(std::span<float> distances, int particles);

// phi_i = sum_j K_ij w_j gradient_j - d/dz_i sum_j K_ij w_j, K_ij = exp(-gamma |z_i - z_j|^2).
// z, gradient and phi have a row for each particle. Uses slots 2, 3 and 4 of `room`; n^2 numbers go
// into each of the first two.
void dsvgd_direction(Rows<const float> z, Rows<const float> gradient,
                     std::span<const double> weight, Scratch& room, Rows<float> phi);

}  // namespace saltus
