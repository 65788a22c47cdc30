// R-hat: how much wider the draws of all chains together are than those of one chain. Near 1 when
// the chains have forgotten where they started; above 1.01 they have not.
#pragma once

#include "saltus/diagnose/chains.hpp"

namespace saltus {

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

}  // namespace saltus
