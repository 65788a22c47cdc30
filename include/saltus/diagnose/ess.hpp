// Effective sample sizes: how many independent draws would estimate a mean as well as these do.
#pragma once

#include <span>

#include "saltus/diagnose/chains.hpp"

namespace saltus {

// The rule of TensorFlow Probability, for one chain y of N draws:
//   ESS = N / (-1 + 2 sum_{k>=0} (1 - k/N) rho_k),   rho_k = c_k / c_0,
//   c_k = 1/(N-k) sum_t (y_t - mean)(y_{t+k} - mean),
// where every lag from the first negative rho_k on counts as zero. Where that is undefined (a
// constant series, a draw that is not finite) the result is 1.
double ess_paper(std::span<const double> series);

// The effective sample sizes of Vehtari, Gelman, Simpson, Carpenter and Buerkner (2021),
// "Rank-normalization, folding, and localization: an improved R-hat", Bayesian Analysis 16(2).
// Every chain is split into halves (the middle draw of an odd number is dropped), and the halves
// are combined, so that chains which disagree have a small ESS. Negative correlation can raise the
// ESS above the number S of draws, up to S log10(S).
//
// All three are NaN where the question has no answer: fewer than four draws, a quantity that is the
// same in every draw, a draw that is not finite.

// The ESS of the ranks mapped to normal scores: for the centre of the distribution, whatever its
// tails.
double ess_bulk(const Chains& chains);

// The smaller of the ESS of the indicators x <= q05 and x <= q95 of the quantiles over all draws.
// With few levels an indicator is often 1 in every draw (q95 is then the largest level); such an
// indicator is left out, and the result is NaN if both are constant.
double ess_tail(const Chains& chains);

// The ESS of the draws themselves: the one that gives the standard error of their mean.
double ess_mean(const Chains& chains);

}  // namespace saltus
