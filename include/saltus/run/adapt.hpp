// Tuning a sampler in warm-up: stochastic approximation of the parameter at which the mean
// acceptance probability reaches its goal (Robbins & Monro 1951), averaged over the later half of
// warm-up (Polyak & Juditsky 1992), then frozen.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "saltus/core/bytes.hpp"
#include "saltus/run/reduction.hpp"
#include "saltus/sampler/sampler.hpp"

namespace saltus {

// One parameter.
class Adaptation {
 public:
  explicit Adaptation(const Tuning& tuning) : tuning_(tuning), value_(tuning.start) {}

  // One update from the mean acceptance probability of a warm-up round. `average`: the value
  // reached counts for the result.
  void update(double acceptance, bool average);
  double value() const { return value_; }
  // The value to freeze.
  double result() const { return averaged_ ? sum_ / static_cast<double>(averaged_) : value_; }

  void save(ByteWriter& out) const;
  void restore(ByteReader& in);

 private:
  Tuning tuning_;
  std::uint64_t averaged_ = 0;
  std::uint64_t turns_ = 0;  // changes of sign of the error
  double last_error_ = 0, value_, sum_ = 0;
};

// The acceptance probabilities of a round, for each tuned parameter those of its steps.
class AcceptanceSums {
 public:
  AcceptanceSums(int chains, std::size_t parameters)
      : parameters_(parameters), sums_(static_cast<std::size_t>(chains) * parameters) {}

  void clear() { sums_.assign(sums_.size(), {}); }
  // Of the chain at a place; called by the thread that runs the chain.
  void add(std::size_t slot, const StepInfo& info) {
    if (info.tuning >= parameters_) return;
    Sum& sum = sums_[slot * parameters_ + info.tuning];
    sum.acceptance += info.acceptance;
    ++sum.steps;
  }
  // Steps that all belong to the first parameter.
  void add(std::size_t slot, const StepSums& sums) {
    Sum& sum = sums_[slot * parameters_];
    sum.acceptance += sums.acceptance;
    sum.steps += static_cast<double>(sums.steps);
  }
  // Over all chains, of all parts of the run, in their order, so that it never depends on which
  // thread or part ran which chain; NaN when no step belongs to the parameter.
  double mean(std::size_t parameter, Reduction* reduction = nullptr) const;

 private:
  struct Sum {
    double acceptance = 0, steps = 0;
  };
  std::size_t parameters_;
  std::vector<Sum> sums_;  // by place and parameter
};

// All tuned parameters of a sampler.
class Tuner {
 public:
  // The sampler must be tunable; `rounds` are planned. `starts`: where parameters begin, in place
  // of where the sampler says.
  Tuner(std::shared_ptr<const Sampler> sampler, int chains, std::uint64_t rounds,
        Reduction* reduction, std::span<const double> starts = {});

  AcceptanceSums& sums() { return sums_; }
  // Updates all parameters from the sums, and clears them.
  void end_round();
  // The values reached, or those to freeze.
  std::vector<double> values(Tunable::Phase phase) const;
  // The sampler at the values reached, for warm-up, or at those to freeze, for draws.
  std::shared_ptr<const Sampler> sampler(Tunable::Phase phase) const;

  void save(ByteWriter& out) const;
  void restore(ByteReader& in);

 private:
  std::shared_ptr<const Sampler> original_;
  std::vector<Adaptation> adaptations_;
  AcceptanceSums sums_;
  std::uint64_t rounds_, done_ = 0;
  Reduction* reduction_;
};

}  // namespace saltus
