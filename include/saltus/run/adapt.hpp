// Tuning a sampler in warm-up: stochastic approximation of the parameter at which the mean
// acceptance probability reaches its goal (Robbins & Monro 1951), averaged over the later half of
// warm-up (Polyak & Juditsky 1992), then frozen.
#pragma once

#include <cstdint>

#include "saltus/core/bytes.hpp"
#include "saltus/sampler/sampler.hpp"

namespace saltus {

class Adaptation {
 public:
  Adaptation(const Sampler::Tuning& tuning, std::uint64_t updates)
      : tuning_(tuning), updates_(updates), value_(tuning.start) {}

  // One update from the mean acceptance probability of a warm-up round.
  void update(double acceptance);
  double value() const { return value_; }
  // The value to freeze.
  double result() const { return averaged_ ? sum_ / static_cast<double>(averaged_) : value_; }

  void save(ByteWriter& out) const;
  void restore(ByteReader& in);

 private:
  Sampler::Tuning tuning_;
  std::uint64_t updates_;  // planned in all
  std::uint64_t done_ = 0, averaged_ = 0;
  std::uint64_t turns_ = 0;  // changes of sign of the error
  double last_error_ = 0, value_, sum_ = 0;
};

}  // namespace saltus
