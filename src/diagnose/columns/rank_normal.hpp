// Rank normalisation: draws of any distribution become draws that look normal.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "diagnose/columns/sequences.hpp"

namespace saltus {

// The scores of values in ascending order, given how often each occurs:
//   Phi^-1((r - 3/8) / (S + 1/4)), where r is the rank of a draw among all S, and equal draws share
// their average rank (Blom 1958; Vehtari et al. 2021).
std::vector<double> normal_scores(std::span<const std::size_t> counts);

// Replaces every draw by its score among the draws of all sequences. All become NaN if some draw is
// not finite.
Sequences rank_normalised(const Sequences& sequences);

}  // namespace saltus
