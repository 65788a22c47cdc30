// Lagged products of centred sequences, the raw material of every autocovariance estimate:
//   sum over sequences c and times t of (x_c,t - mean_c)(x_c,t+k - mean_c)   for lag k.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "diagnose/columns/sequences.hpp"

namespace saltus {

// Adds the sums of the lags first, first + 1, ... of one centred sequence to `sums`.
void add_lag_sums(std::span<const double> centred, std::size_t first, std::span<double> sums);

// The same, of the products whose earlier factor is one of the first `starts` entries only.
void add_lag_sums(std::span<const double> centred, std::size_t starts, std::size_t first,
                  std::span<double> sums);

// The sums of all lags at once, by Fourier transforms.
std::vector<double> all_lag_sums(const Sequences& sequences);

// The sums as far as somebody asks for them. Most users stop after a few lags, which are cheapest
// to sum directly; the sequences are read again for further lags in growing blocks, and once for
// all remaining ones, by Fourier transforms, when that is cheaper.
class LagSums {
 public:
  explicit LagSums(Sequences sequences);

  std::size_t length() const { return sequences_.length; }
  int count() const { return sequences_.count; }
  const std::vector<double>& means() const { return means_; }

  // lag < length()
  double at(std::size_t lag);

  // The sums of the first lags so far, and more of them.
  std::span<const double> known() const { return sums_; }
  void read_next_block();

 private:
  Sequences sequences_;
  std::vector<double> means_;
  std::vector<double> sums_;
};

// The effective sample size of several sequences taken together, with `length` draws each, one per
// mean; sums[k] is their lag sum k. NaN if all draws are equal or some draw is not finite, and
// nothing if the answer depends on a lag that is not among the sums. All lags below the length are
// always enough, and at least two of them are needed.
std::optional<double> combined_ess(std::span<const double> means, std::size_t length,
                                   std::span<const double> sums);

}  // namespace saltus
