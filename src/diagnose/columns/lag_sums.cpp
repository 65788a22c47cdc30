#include "diagnose/columns/lag_sums.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

namespace saltus {
namespace {

// A radix-2 Fourier transform of one power-of-two size on separate real and imaginary parts, in
// place. Spectra are kept in bit-reversed order: forward produces it and inverse expects it, so
// that entry by entry operations between the two need no reordering at all.
class Fft {
 public:
  explicit Fft(std::size_t size) : size_(size), cos_(size / 2), sin_(size / 2) {
    assert(std::has_single_bit(size));
    for (std::size_t j = 0; j < size / 2; ++j) {
      const double angle =
          2 * std::numbers::pi * static_cast<double>(j) / static_cast<double>(size);
      cos_[j] = std::cos(angle);
      sin_[j] = std::sin(angle);
    }
  }

  // Decimation in frequency: (a, b) -> (a + b, (a - b) w) with w = exp(-2 pi i j / (2 half)).
  void forward(std::span<double> re, std::span<double> im) const {
    for (std::size_t half = size_ / 2; half > 0; half /= 2) {
      for_each_pair(half, [&](std::size_t a, std::size_t b, double wr, double wi) {
        const double dr = re[a] - re[b], di = im[a] - im[b];
        re[a] += re[b];
        im[a] += im[b];
        re[b] = dr * wr + di * wi;
        im[b] = di * wr - dr * wi;
      });
    }
  }

  // Decimation in time, the steps of forward undone from the last to the first:
  // (a, b) -> (a + b w*, a - b w*). Divides by the size: inverse after forward gives back the
  // input.
  void inverse(std::span<double> re, std::span<double> im) const {
    for (std::size_t half = 1; half < size_; half *= 2) {
      for_each_pair(half, [&](std::size_t a, std::size_t b, double wr, double wi) {
        const double br = re[b] * wr - im[b] * wi, bi = re[b] * wi + im[b] * wr;
        re[b] = re[a] - br;
        im[b] = im[a] - bi;
        re[a] += br;
        im[a] += bi;
      });
    }
    const double scale = 1 / static_cast<double>(size_);
    for (double& value : re) value *= scale;
    for (double& value : im) value *= scale;
  }

 private:
  // Calls f with the entries a and b = a + half of every block, and the parts of w*.
  template <class F>
  void for_each_pair(std::size_t half, const F& f) const {
    const std::size_t step = size_ / (2 * half);
    for (std::size_t start = 0; start < size_; start += 2 * half) {
      for (std::size_t j = 0; j < half; ++j) {
        f(start + j, start + j + half, cos_[j * step], sin_[j * step]);
      }
    }
  }

  std::size_t size_;
  std::vector<double> cos_, sin_;  // of 2 pi j / size for j < size / 2
};

constexpr std::size_t kFirstBlock = 32;
// Blocks of 32, 64 and 128 lags are summed directly. Beyond these 224 the transforms are cheaper
// for any length.
constexpr std::size_t kDirectLags = 224;

// Of the products whose earlier factor is in [start, end).
double lag_sum(std::span<const double> x, std::size_t lag, std::size_t start, std::size_t end) {
  double sum = 0;
  for (std::size_t t = start; t < end && t + lag < x.size(); ++t) sum += x[t] * x[t + lag];
  return sum;
}

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

void add_lag_sums(std::span<const double> centred, std::size_t first, std::span<double> sums) {
  add_lag_sums(centred, centred.size(), first, sums);
}

void add_lag_sums(std::span<const double> centred, std::size_t starts, std::size_t first,
                  std::span<double> sums) {
  // Eight lags at a time: eight sums that do not wait for each other, and x[t] is loaded once.
  constexpr std::size_t kTile = 8;
  std::size_t i = 0;
  for (; i + kTile <= sums.size(); i += kTile) {
    const std::size_t lag = first + i;
    std::array<double, kTile> tile{};
    std::size_t t = 0;
    for (; t < starts && t + lag + kTile <= centred.size(); ++t) {
      const double* const later = &centred[t + lag];
      for (std::size_t j = 0; j < kTile; ++j) tile[j] += centred[t] * later[j];
    }
    for (std::size_t j = 0; j < kTile; ++j) {
      sums[i + j] += tile[j] + lag_sum(centred, lag + j, t, starts);
    }
  }
  for (; i < sums.size(); ++i) sums[i] += lag_sum(centred, first + i, 0, starts);
}

// Wiener-Khinchin: the lag sums are the inverse transform of |F x|^2. Zeros behind each sequence,
// as many as it has entries, keep its end from meeting its beginning. The power spectra of all
// sequences are added up, so one inverse transform is enough. Two sequences x and y share a
// transform: the lag sums of x + iy, with one factor conjugated, have those of x plus those of y as
// their real part.
std::vector<double> all_lag_sums(const Sequences& sequences) {
  const std::size_t size = std::bit_ceil(2 * sequences.length);
  const Fft fft(size);
  std::vector<double> re(size), im(size), power(size);
  const auto add_power = [&] {
    fft.forward(re, im);
    for (std::size_t i = 0; i < size; ++i) power[i] += re[i] * re[i] + im[i] * im[i];
    std::fill(re.begin(), re.end(), 0.0);
    std::fill(im.begin(), im.end(), 0.0);
  };
  bool alone = false;  // re waits for a second sequence
  sequences.for_each([&](std::span<double> x) {
    centre(x);
    std::copy(x.begin(), x.end(), alone ? im.begin() : re.begin());
    if (alone) add_power();
    alone = !alone;
  });
  if (alone) add_power();
  fft.inverse(power, im);  // im is zero
  power.resize(sequences.length);
  return power;
}

LagSums::LagSums(Sequences sequences) : sequences_(std::move(sequences)) {
  sums_.resize(std::min(kFirstBlock, sequences_.length));
  sequences_.for_each([&](std::span<double> x) {
    means_.push_back(centre(x));
    add_lag_sums(x, 0, sums_);
  });
}

double LagSums::at(std::size_t lag) {
  while (lag >= sums_.size()) read_next_block();
  return sums_[lag];
}

void LagSums::read_next_block() {
  const std::size_t known = sums_.size();
  if (known >= kDirectLags) {
    const std::vector<double> all = all_lag_sums(sequences_);
    sums_.insert(sums_.end(), all.begin() + static_cast<std::ptrdiff_t>(known), all.end());
    return;
  }
  sums_.resize(std::min(2 * known + kFirstBlock, sequences_.length));
  sequences_.for_each([&](std::span<double> x) {
    centre(x);
    add_lag_sums(x, known, std::span(sums_).subspan(known));
  });
}

std::optional<double> combined_ess(std::span<const double> means, std::size_t length,
                                   std::span<const double> sums) {
  const Correlations chain(means, length, sums);
  if (!chain.defined()) return kNaN;
  const std::optional<double> time = autocorrelation_time(chain);
  if (!time) return std::nullopt;
  // An estimate at or below zero means strong negative correlation; the bound, the paper's, keeps
  // the ESS below S log10(S).
  return chain.draws() / std::max(*time, 1 / std::log10(chain.draws()));
}

}  // namespace saltus
