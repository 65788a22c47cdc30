// Series for the tests of the diagnostics. The ones driven by the integer generator below can be
// repeated exactly in any language; the reference values in the tests come from a plain numpy
// version of the formulas of Vehtari et al. (2021) (every lag summed, every rank counted by
// comparing all pairs of draws, quantiles of the normal distribution from Python's
// statistics.NormalDist) on the same series.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "saltus/diagnose/chains.hpp"

namespace saltus {

// u <- (1103515245 u + 12345) mod 2^31, divided by 2^31
class PlainGenerator {
 public:
  explicit PlainGenerator(std::uint64_t seed) : u_(seed) {}
  double next() {
    u_ = (1103515245 * u_ + 12345) % (std::uint64_t{1} << 31);
    return static_cast<double>(u_) / 2147483648.0;
  }

 private:
  std::uint64_t u_;
};

using Series = std::vector<std::vector<double>>;

inline Chains chains_of(const Series& series) {
  const std::size_t draws = series.empty() ? 0 : series.front().size();
  return {static_cast<int>(series.size()), draws, [series](int chain, std::span<double> out) {
            const std::vector<double>& from = series[static_cast<std::size_t>(chain)];
            for (std::size_t t = 0; t < out.size(); ++t) out[t] = from[t];
          }};
}

// x_t = phi x_{t-1} + (u - 1/2) from 0, chain after chain from one generator.
inline Series autoregression(std::uint64_t seed, int chains, int draws, double phi) {
  PlainGenerator generator(seed);
  Series series;
  for (int c = 0; c < chains; ++c) {
    double x = 0;
    auto& chain = series.emplace_back();
    for (int t = 0; t < draws; ++t) chain.push_back(x = phi * x + (generator.next() - 0.5));
  }
  return series;
}

// Starts at 3; down if u < 0.3, up if u > 0.7, never below 0 or above 6.
inline Series level_walk(std::uint64_t seed, int chains, int draws) {
  PlainGenerator generator(seed);
  Series series;
  for (int c = 0; c < chains; ++c) {
    double x = 3;
    auto& chain = series.emplace_back();
    for (int t = 0; t < draws; ++t) {
      const double u = generator.next();
      if (u < 0.3 && x > 0) x -= 1;
      if (u > 0.7 && x < 6) x += 1;
      chain.push_back(x);
    }
  }
  return series;
}

// Starts at 0 and changes between 0 and 1 with probability `flip`.
inline Series two_level(std::uint64_t seed, int chains, int draws, double flip) {
  PlainGenerator generator(seed);
  Series series;
  for (int c = 0; c < chains; ++c) {
    double x = 0;
    auto& chain = series.emplace_back();
    for (int t = 0; t < draws; ++t) {
      if (generator.next() < flip) x = 1 - x;
      chain.push_back(x);
    }
  }
  return series;
}

// Three chains of twelve digits.
inline Series digits() {
  return {{3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8},
          {2, 7, 1, 8, 2, 8, 1, 8, 2, 8, 4, 5},
          {1, 6, 1, 8, 0, 3, 3, 9, 8, 8, 7, 4}};
}

}  // namespace saltus
