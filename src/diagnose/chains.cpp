// The diagnostics of one quantity along several chains.
#include <cmath>

#include "diagnose/columns/lag_sums.hpp"
#include "diagnose/columns/ranks.hpp"
#include "saltus/diagnose/chains.hpp"

namespace saltus {
namespace {

double ess_of(const Sequences& sequences) {
  LagSums sums(sequences);
  for (;;) {
    if (const auto ess = combined_ess(sums.means(), sums.length(), sums.known())) return *ess;
    sums.read_next_block();
  }
}

double indicator_ess(const Chains& chains, double threshold) {
  return ess_of(changed(half_chains(chains), [threshold](std::span<double> x) {
    for (double& draw : x) draw = draw <= threshold ? 1 : 0;
  }));
}

double plain_rhat(const Sequences& sequences) {
  return plain_rhat(moments_of(sequences), sequences.length);
}

// Of all draws together: the deviations from the chain means, and those of the chain means.
double pooled_sd(const Chains& chains) {
  const double n = static_cast<double>(chains.draws);
  SequenceMoments moments = moments_of(whole_chains(chains));
  centre(moments.means);
  const double squares = moments.squares + n * sum_of_squares(moments.means);
  return std::sqrt(squares / (n * chains.chains - 1));
}

}  // namespace

double ess_paper(std::span<const double> series) {
  const std::size_t draws = series.size();
  LagSums sums({1, draws, [series](const Sequences::Visitor& visit) {
                  std::vector<double> copy(series.begin(), series.end());
                  visit(copy);
                }});
  if (draws == 0 || !(sums.at(0) > 0)) return 1;

  const double n = static_cast<double>(draws);
  double time = -1;
  for (std::size_t lag = 0; lag < draws && !(sums.at(lag) < 0); ++lag) {
    // (1 - k/N) c_k/c_0: the weight and the denominator N - k of c_k cancel.
    time += 2 * sums.at(lag) / sums.at(0);
  }
  const double ess = n / time;
  return std::isnan(ess) ? 1 : ess;
}

double ess_bulk(const Chains& chains) {
  if (too_short(chains)) return kNaN;
  return ess_of(rank_normalised(half_chains(chains)));
}

double ess_tail(const Chains& chains) {
  if (too_short(chains)) return kNaN;
  const CountedValues counted = count_values(whole_chains(chains));
  if (!counted.finite) return kNaN;
  // The usual quantile interpolates between the order statistics floor and ceil of p (S - 1). No
  // draw lies between the two, so x <= quantile is the same as x <= the lower one.
  const std::size_t last = counted.total - 1;
  const double q05 = counted.order_statistic(last / 20);
  const double q95 = counted.order_statistic(19 * last / 20);
  // fmin leaves out a NaN: an indicator that is the same in every draw.
  return std::fmin(indicator_ess(chains, q05), indicator_ess(chains, q95));
}

double ess_mean(const Chains& chains) {
  if (too_short(chains)) return kNaN;
  return ess_of(half_chains(chains));
}

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

double mcse_mean(const Chains& chains) {
  const double ess = ess_mean(chains);
  return std::isnan(ess) ? ess : pooled_sd(chains) / std::sqrt(ess);
}

}  // namespace saltus
