#include "diagnose/columns/lag_sums.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "diagnose/columns/fft.hpp"

namespace saltus {
namespace {

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

}  // namespace saltus
