#include "saltus/diagnose/ess.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "diagnose/counted_values.hpp"
#include "diagnose/lag_sums.hpp"
#include "diagnose/rank_normal.hpp"
#include "diagnose/sequences.hpp"

namespace saltus {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// The autocorrelations of several sequences taken together (Vehtari et al. 2021):
//   rho_t = 1 - (W - mean_c acov_c(t)) / var_plus,   var_plus = (n-1)/n W + B/n,
// with acov_c(t) the autocovariance of sequence c with denominator n for every lag, W the mean of
// their variances (denominator n - 1) and B/n the variance of their means.
class Correlations {
 public:
  explicit Correlations(LagSums sums) : sums_(std::move(sums)) {
    const double n = static_cast<double>(sums_.length());
    within_ = mean_autocovariance(0) * n / (n - 1);
    var_plus_ = mean_autocovariance(0) + sample_variance(sums_.means());
  }

  std::size_t length() const { return sums_.length(); }
  double draws() const { return static_cast<double>(length()) * sums_.count(); }
  // False if all draws are equal or some draw is not finite.
  bool defined() const { return var_plus_ > 0 && std::isfinite(var_plus_); }

  double rho(std::size_t lag) {
    return lag == 0 ? 1 : 1 - (within_ - mean_autocovariance(lag)) / var_plus_;
  }

 private:
  double mean_autocovariance(std::size_t lag) { return sums_.at(lag) / draws(); }

  LagSums sums_;
  double within_ = 0, var_plus_ = 0;
};

// The autocorrelation time by Geyer's (1992) initial monotone positive sequence. The sums of pairs
// rho_2i + rho_2i+1 of a reversible chain are positive and decrease, so pairs count until the first
// negative one, and a pair that exceeds the one before it is noise and is lowered to it.
//
// As in the R package posterior, the first term of the pair that ended the sum counts once (not
// twice) if it is positive, which lowers the variance for chains with negative correlation, and
// lags beyond n - 3 are never used.
double autocorrelation_time(Correlations& chain) {
  const std::size_t n = chain.length();
  double pair = chain.rho(0) + chain.rho(1);
  // Too short for a second pair: without this the last term would be that of lag 0, and the time 0.
  if (n < 6 && pair > 0) return -1 + 2 * pair;

  double sum = 0;                                           // of the pairs before the last one
  double lowest = std::numeric_limits<double>::infinity();  // pair so far
  double last = chain.rho(0);                               // even term of the last pair
  for (std::size_t t = 0; pair > 0 && t + 5 < n;) {
    lowest = std::min(lowest, pair);
    sum += lowest;
    t += 2;
    const double even = chain.rho(t);
    pair = even + chain.rho(t + 1);
    last = pair >= 0 ? even : std::max(even, 0.0);
  }
  return -1 + 2 * sum + last;
}

double combined_ess(const Sequences& sequences) {
  Correlations chain{LagSums(sequences)};
  if (!chain.defined()) return kNaN;
  // An estimate at or below zero means strong negative correlation; the bound, the paper's, keeps
  // the ESS below S log10(S).
  const double time = std::max(autocorrelation_time(chain), 1 / std::log10(chain.draws()));
  return chain.draws() / time;
}

double indicator_ess(const Chains& chains, double threshold) {
  return combined_ess(changed(half_chains(chains), [threshold](std::span<double> x) {
    for (double& draw : x) draw = draw <= threshold ? 1 : 0;
  }));
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
  return combined_ess(rank_normalised(half_chains(chains)));
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
  return combined_ess(half_chains(chains));
}

}  // namespace saltus
