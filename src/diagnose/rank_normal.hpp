// Rank normalisation: draws of any distribution become draws that look normal.
#pragma once

#include "diagnose/sequences.hpp"

namespace saltus {

// Replaces every draw by Phi^-1((r - 3/8) / (S + 1/4)), where r is its rank among the S draws of
// all sequences and equal draws share their average rank (Blom 1958; Vehtari et al. 2021). All
// become NaN if some draw is not finite.
Sequences rank_normalised(const Sequences& sequences);

}  // namespace saltus
