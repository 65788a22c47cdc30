// Tunable: a sampler whose boldness warm-up can find. A sampler gives it by Sampler::tunable.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace saltus {

class Sampler;

// One tuned parameter, on a scale on which a change by one matters about equally everywhere; larger
// means bolder.
struct Tuning {
  double start, low, high;
  double acceptance;                    // the mean acceptance probability to reach
  std::string parameter = "step_size";  // what is tuned, for reports
  // Far from 0 the value goes with the target's steepness itself, not with its logarithm: where
  // that changes by orders of magnitude, so do the steps that tuning has to make.
  bool proportional = false;
};

class Tunable {
 public:
  virtual ~Tunable() = default;

  // At least one. A step says which one it belongs to (StepInfo::tuning); it is tuned by these
  // steps alone.
  virtual std::vector<Tuning> tuning() const = 0;

  // The sampler at a value of each tuned parameter, to be used in warm-up or, finally, for draws.
  enum class Phase { warmup, draws };
  virtual std::unique_ptr<Sampler> tuned(std::span<const double> values, Phase phase) const = 0;
};

}  // namespace saltus
