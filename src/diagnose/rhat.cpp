#include "saltus/diagnose/rhat.hpp"

#include <cmath>
#include <limits>

#include "diagnose/counted_values.hpp"
#include "diagnose/rank_normal.hpp"
#include "diagnose/sequences.hpp"

namespace saltus {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// sqrt(var_plus / W); 0/0 is NaN and a positive number over 0 infinity, as wanted.
double plain_rhat(const Sequences& sequences) {
  const SequenceMoments moments = moments_of(sequences);
  const double n = static_cast<double>(sequences.length);
  const double within = moments.squares / (sequences.count * (n - 1));
  const double between = sample_variance(moments.means);
  return std::sqrt(((n - 1) / n * within + between) / within);
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
