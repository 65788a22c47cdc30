// The random numbers of a problem that is generated, in the order of their use.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "saltus/core/philox.hpp"

namespace saltus {

class Uniforms {
 public:
  explicit Uniforms(std::uint64_t seed) : stream_(seed, kAllChains, 0, Purpose::generate) {}

  double next() { return stream_.uniform(used_++); }
  // Uniform among 0 .. n - 1.
  std::int64_t below(std::int64_t n) {
    const double place = std::floor(next() * static_cast<double>(n));
    return std::min(static_cast<std::int64_t>(place), n - 1);
  }
  // Normal with mean 0 and variance 1, from two numbers (Box & Muller).
  double normal() {
    const double radius = std::sqrt(-2 * std::log(next()));
    return radius * std::cos(2 * std::numbers::pi * next());
  }

 private:
  Stream stream_;
  std::uint32_t used_ = 0;
};

}  // namespace saltus
