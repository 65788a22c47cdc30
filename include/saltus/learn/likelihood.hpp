// The log-likelihood of data: their mean log p less log Z, which an interval encloses.
#pragma once

#include "saltus/anneal/ais.hpp"

namespace saltus {

// Mean log p of the rows, up to the target's constant; in tiles on the threads (0: all cores),
// whose number never changes it. Throws DataError when rows do not fit the target's domain, when
// there are none, or when a log p is not finite.
double mean_logp(const Target& target, Rows<const Symbol> data, int threads = 0);

struct LikelihoodInterval {
  double low, high;  // low is -infinity where there is no upper bound of log Z
  double middle() const { return (low + high) / 2; }
};
inline LikelihoodInterval log_likelihood(double mean_logp, const AisResult& log_z) {
  return {mean_logp - log_z.high(), mean_logp - log_z.low()};
}

}  // namespace saltus
