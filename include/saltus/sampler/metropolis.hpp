// The Metropolis test, for samplers with a proposal: accepts or rejects, and rejects what is not
// finite.
#pragma once

#include <cmath>

#include "saltus/core/both.hpp"
#include "saltus/sampler/sampler.hpp"

namespace saltus {

// log ratio = logp(y) - logp(x) + log q(x | y) - log q(y | x), u uniform on (0, 1). Fills in all of
// `info` but `proposed`, which must be there, and says whether y is accepted.
inline SALTUS_BOTH bool metropolis(double log_ratio, double u, StepInfo& info) {
  info.nonfinite = !std::isfinite(log_ratio);
  info.acceptance = info.nonfinite ? 0 : log_ratio < 0 ? std::exp(log_ratio) : 1;
  info.accepted = !info.nonfinite && std::log(u) < log_ratio;
  info.changed = info.accepted ? info.proposed : 0;
  return info.accepted;
}

}  // namespace saltus
