// What several chains say of one scalar quantity: effective sample sizes, R-hat, and the Monte
// Carlo standard error of its mean.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "saltus/core/rows.hpp"

namespace saltus {

// The quantity along the chains, read one chain at a time so that a long run need not fit in
// memory.
struct Chains {
  int chains = 0;
  std::size_t draws = 0;                                       // per chain
  std::function<void(int chain, std::span<double> out)> read;  // out has `draws` entries
};

// Rows of an array as chains.
inline Chains chains_of(Rows<const double> x) {
  return {x.rows, static_cast<std::size_t>(x.cols), [x](int chain, std::span<double> out) {
            for (std::size_t t = 0; t < out.size(); ++t) out[t] = x[chain][t];
          }};
}

// ---- Effective sample sizes: how many independent draws would estimate a mean as well as these.

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

// ---- R-hat: how much wider the draws of all chains together are than those of one chain. Near 1
// when the chains have forgotten where they started; above 1.01 they have not.

// Both are NaN for fewer than four draws, for a quantity that is the same in every draw and for
// draws that are not finite, and +infinity when every half chain is constant but not all are equal.

// The larger of the bulk and the folded R-hat of Vehtari et al. (2021): the split R-hat of the rank
// normalised draws x, which sees different locations, and that of the rank normalised
// |x - median|, which sees different scales. A folded quantity that is constant (two levels on both
// sides of the median) says nothing and is left out.
double rhat(const Chains& chains);

// The split R-hat of the draws themselves (Gelman et al., Bayesian Data Analysis, 3rd ed., 11.4):
//   sqrt(((n-1)/n W + B/n) / W) over half chains of n draws, W the mean of their variances and B/n
// the variance of their means.
double split_rhat(const Chains& chains);

// ---- The Monte Carlo standard error of the mean

// sd / sqrt(ess_mean), with the standard deviation of all draws of all chains together. NaN where
// ess_mean is.
double mcse_mean(const Chains& chains);

}  // namespace saltus
