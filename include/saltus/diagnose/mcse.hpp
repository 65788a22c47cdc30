// The Monte Carlo standard error of a mean over chains.
#pragma once

#include "saltus/diagnose/chains.hpp"

namespace saltus {

// sd / sqrt(ess_mean), with the standard deviation of all draws of all chains together. NaN where
// ess_mean is.
double mcse_mean(const Chains& chains);

}  // namespace saltus
