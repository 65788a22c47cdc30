#include "diagnose/columns/combined_ess.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "diagnose/columns/sequences.hpp"

namespace saltus {
namespace {

// The autocorrelations of several sequences taken together (Vehtari et al. 2021):
//   rho_t = 1 - (W - mean_c acov_c(t)) / var_plus,   var_plus = (n-1)/n W + B/n,
// with acov_c(t) the autocovariance of sequence c with denominator n for every lag, W the mean of
// their variances (denominator n - 1) and B/n the variance of their means.
class Correlations {
 public:
  Correlations(std::span<const double> means, std::size_t length, std::span<const double> sums)
      : length_(length), count_(static_cast<double>(means.size())), sums_(sums) {
    const double n = static_cast<double>(length);
    within_ = mean_autocovariance(0) * n / (n - 1);
    var_plus_ = mean_autocovariance(0) + sample_variance({means.begin(), means.end()});
  }

  std::size_t length() const { return length_; }
  double draws() const { return static_cast<double>(length_) * count_; }
  // False if all draws are equal or some draw is not finite.
  bool defined() const { return var_plus_ > 0 && std::isfinite(var_plus_); }
  bool knows(std::size_t lag) const { return lag < sums_.size(); }

  double rho(std::size_t lag) const {
    return lag == 0 ? 1 : 1 - (within_ - mean_autocovariance(lag)) / var_plus_;
  }

 private:
  double mean_autocovariance(std::size_t lag) const { return sums_[lag] / draws(); }

  std::size_t length_;
  double count_;
  std::span<const double> sums_;
  double within_ = 0, var_plus_ = 0;
};

// The autocorrelation time by Geyer's (1992) initial monotone positive sequence. The sums of pairs
// rho_2i + rho_2i+1 of a reversible chain are positive and decrease, so pairs count until the first
// negative one, and a pair that exceeds the one before it is noise and is lowered to it.
//
// As in the R package posterior, the first term of the pair that ended the sum counts once (not
// twice) if it is positive, which lowers the variance for chains with negative correlation, and
// lags beyond n - 3 are never used.
std::optional<double> autocorrelation_time(const Correlations& chain) {
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
    if (!chain.knows(t + 1)) return std::nullopt;
    const double even = chain.rho(t);
    pair = even + chain.rho(t + 1);
    last = pair >= 0 ? even : std::max(even, 0.0);
  }
  return -1 + 2 * sum + last;
}

}  // namespace

std::optional<double> combined_ess(std::span<const double> means, std::size_t length,
                                   std::span<const double> sums) {
  const Correlations chain(means, length, sums);
  if (!chain.defined()) return std::numeric_limits<double>::quiet_NaN();
  const std::optional<double> time = autocorrelation_time(chain);
  if (!time) return std::nullopt;
  // An estimate at or below zero means strong negative correlation; the bound, the paper's, keeps
  // the ESS below S log10(S).
  return chain.draws() / std::max(*time, 1 / std::log10(chain.draws()));
}

}  // namespace saltus
