#include "saltus/diagnose/rhat.hpp"

#include <cmath>

#include "diagnose/columns/counted_values.hpp"
#include "diagnose/columns/plain_rhat.hpp"
#include "diagnose/columns/rank_normal.hpp"
#include "diagnose/columns/sequences.hpp"

namespace saltus {
namespace {

double plain_rhat(const Sequences& sequences) {
  return plain_rhat(moments_of(sequences), sequences.length);
}

}  // namespace

double rhat(const Chains& chains) {
  if (too_short(chains)) return kNaN;
  const double median = count_values(whole_chains(chains)).median();
  if (std::isnan(median)) return kNaN;  // some draw is not finite
  const Sequences halves = half_chains(chains);
  const Sequences folded = changed(halves, [median](std::span<double> x) {
    for (double& draw : x) draw = std::abs(draw - median);
  });
  // fmax leaves out a NaN, that of a constant folded quantity.
  return std::fmax(plain_rhat(rank_normalised(halves)), plain_rhat(rank_normalised(folded)));
}

double split_rhat(const Chains& chains) {
  if (too_short(chains)) return kNaN;
  return plain_rhat(half_chains(chains));
}

}  // namespace saltus
