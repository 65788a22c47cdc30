#include "diagnose/columns/fft.hpp"

#include <bit>
#include <cassert>
#include <cmath>
#include <numbers>

namespace saltus {

Fft::Fft(std::size_t size) : size_(size), cos_(size / 2), sin_(size / 2) {
  assert(std::has_single_bit(size));
  for (std::size_t j = 0; j < size / 2; ++j) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(j) / static_cast<double>(size);
    cos_[j] = std::cos(angle);
    sin_[j] = std::sin(angle);
  }
}

// Decimation in frequency: (a, b) -> (a + b, (a - b) w) with w = exp(-2 pi i j / (2 half)).
void Fft::forward(std::span<double> re, std::span<double> im) const {
  for (std::size_t half = size_ / 2; half > 0; half /= 2) {
    const std::size_t step = size_ / (2 * half);
    for (std::size_t start = 0; start < size_; start += 2 * half) {
      for (std::size_t j = 0; j < half; ++j) {
        const std::size_t a = start + j, b = a + half;
        const double wr = cos_[j * step], wi = -sin_[j * step];
        const double dr = re[a] - re[b], di = im[a] - im[b];
        re[a] += re[b];
        im[a] += im[b];
        re[b] = dr * wr - di * wi;
        im[b] = dr * wi + di * wr;
      }
    }
  }
}

// Decimation in time, the steps of forward undone from the last to the first:
// (a, b) -> (a + b w*, a - b w*).
void Fft::inverse(std::span<double> re, std::span<double> im) const {
  for (std::size_t half = 1; half < size_; half *= 2) {
    const std::size_t step = size_ / (2 * half);
    for (std::size_t start = 0; start < size_; start += 2 * half) {
      for (std::size_t j = 0; j < half; ++j) {
        const std::size_t a = start + j, b = a + half;
        const double wr = cos_[j * step], wi = sin_[j * step];
        const double br = re[b] * wr - im[b] * wi, bi = re[b] * wi + im[b] * wr;
        re[b] = re[a] - br;
        im[b] = im[a] - bi;
        re[a] += br;
        im[a] += bi;
      }
    }
  }
  const double scale = 1 / static_cast<double>(size_);
  for (double& value : re) value *= scale;
  for (double& value : im) value *= scale;
}

}  // namespace saltus
