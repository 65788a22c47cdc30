// When do two coupled chains meet, and what follows: an upper bound of the distance between a
// chain's law and the target (Biswas, Jacob & Vanetti, "Estimating convergence of Markov chains
// with L-lag couplings", NeurIPS 2019), and estimates of means without the bias of the start
// (Jacob, O'Leary & Atchadé, JRSS B 2020).
//
// X is ahead of Y by `lag` steps; tau is the first time t at which X_t = Y_(t - lag).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "saltus/couple/coupled_kernel.hpp"

namespace saltus {

// Which states of X an estimate takes the mean of: those of times `first` to `last`, corrected by
// differences between the chains.
struct EstimateWindow {
  std::uint64_t first = 0, last = 0;
};

struct MeetingPlan {
  std::uint64_t seed = 1;
  std::uint64_t lag = 1;
  std::uint64_t max_steps = 100'000;     // of Y, after which a pair counts as unmet
  std::optional<EstimateWindow> window;  // none: no estimates
  std::vector<int> coordinates;          // whose values are estimated; log p comes after them
};

struct Meeting {
  std::optional<std::uint64_t> time;  // tau - lag; none: not met
  std::vector<double> estimates;      // where a window was asked for and the pair met
};

// Runs one pair of chains from states drawn uniformly. The result is a function of the arguments.
// Throws StartError where log p of a start is not finite.
Meeting run_pair(const Target& target, const CoupledKernel& kernel, std::uint32_t pair,
                 const MeetingPlan& plan);

// The bound of the total-variation distance after t steps: the mean over pairs of
// max(0, ceil((tau - lag - t) / lag)), with its standard error. `times` are tau - lag.
struct DistanceBound {
  double bound = 0, standard_error = 0;
};
DistanceBound distance_bound(std::span<const std::uint64_t> times, std::uint64_t lag,
                             std::uint64_t t);

}  // namespace saltus
