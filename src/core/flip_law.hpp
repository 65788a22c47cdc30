// The law by which the discrete Langevin proposal flips a coordinate with two levels. The scalar
// passes and the kernels of GPUs use it as it stands; the vector passes compute the same.
#pragma once

#include <cstdint>

#include "core/scalar_math.hpp"

namespace saltus {

// The log-odds that the coordinate flips. `pull` is the distance of its levels times the balancing
// exponent (1/2 unless a sampler is told otherwise), `upper` says that it is at the upper one.
inline SALTUS_BOTH double flip_logit(double pull, bool upper, double score, double penalty) {
  const double drift = pull * score;
  return (upper ? -drift : drift) - penalty;
}

// Whether it flips, decided by a random word: by the unlikelier of flip and stay, whose probability
// keeps its digits.
inline SALTUS_BOTH bool flips(double logit, std::uint32_t word) {
  const double u = ((word >> 1) + 0.5) * 0x1p-31;
  const bool unlikely = u < sigmoid(-std::abs(logit));
  return unlikely != (logit >= 0);
}

// The log-probability of that decision.
inline SALTUS_BOTH double log_q_of(double logit, bool flip) {
  return (flip ? logit : 0.0) - softplus(logit);
}

}  // namespace saltus
