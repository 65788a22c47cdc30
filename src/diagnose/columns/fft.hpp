// A radix-2 Fourier transform, as much of it as an autocovariance needs.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace saltus {

// Transforms of one power-of-two size on separate real and imaginary parts, in place. Spectra are
// kept in bit-reversed order: forward produces it and inverse expects it, so that entry by entry
// operations between the two need no reordering at all.
class Fft {
 public:
  explicit Fft(std::size_t size);

  void forward(std::span<double> re, std::span<double> im) const;

  // Divides by the size: inverse after forward gives back the input.
  void inverse(std::span<double> re, std::span<double> im) const;

 private:
  std::size_t size_;
  std::vector<double> cos_, sin_;  // of 2 pi j / size for j < size / 2
};

}  // namespace saltus
