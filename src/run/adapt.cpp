#include "saltus/run/adapt.hpp"

#include <algorithm>
#include <cmath>

namespace saltus {

void Adaptation::update(double acceptance, bool average) {
  // The gain falls only when the error changes sign (Kesten 1958): a poor start is left at full
  // speed, and near the goal the steps shrink like t^-0.6.
  const double error = acceptance - tuning_.acceptance;
  if (error * last_error_ < 0) ++turns_;
  last_error_ = error;
  const double gain = 4 * std::pow(1 + static_cast<double>(turns_), -0.6);
  value_ = std::clamp(value_ + gain * error, tuning_.low, tuning_.high);
  if (!average) return;
  sum_ += value_;
  ++averaged_;
}

void Adaptation::save(ByteWriter& out) const {
  out.put(averaged_, turns_, last_error_, value_, sum_);
}

void Adaptation::restore(ByteReader& in) {
  in.get(averaged_, turns_, last_error_, value_, sum_);
}

double AcceptanceSums::mean(std::size_t parameter, Reduction* reduction) const {
  std::vector<double> values;  // acceptance and steps of each chain
  for (std::size_t k = parameter; k < sums_.size(); k += parameters_) {
    values.push_back(sums_[k].acceptance);
    values.push_back(sums_[k].steps);
  }
  if (reduction) values = reduction->gather(values);
  Sum all;
  for (std::size_t k = 0; k < values.size(); k += 2) {
    all.acceptance += values[k];
    all.steps += values[k + 1];
  }
  const double chains = static_cast<double>(values.size()) / 2;
  return all.acceptance / chains / (all.steps / chains);
}

Tuner::Tuner(std::shared_ptr<const Sampler> sampler, int chains, std::uint64_t rounds,
             Reduction* reduction, std::span<const double> starts)
    : original_(std::move(sampler)),
      sums_(chains, original_->tunable()->tuning().size()),
      rounds_(rounds),
      reduction_(reduction) {
  for (Tuning tuning : original_->tunable()->tuning()) {
    if (!starts.empty()) tuning.start = starts[adaptations_.size()];
    adaptations_.emplace_back(tuning);
  }
}

void Tuner::end_round() {
  ++done_;
  for (std::size_t k = 0; k < adaptations_.size(); ++k) {
    const double acceptance = sums_.mean(k, reduction_);
    if (!std::isnan(acceptance)) adaptations_[k].update(acceptance, 2 * done_ > rounds_);
  }
  sums_.clear();
}

std::vector<double> Tuner::values(Tunable::Phase phase) const {
  std::vector<double> values;
  for (const Adaptation& a : adaptations_) {
    values.push_back(phase == Tunable::Phase::draws ? a.result() : a.value());
  }
  return values;
}

std::shared_ptr<const Sampler> Tuner::sampler(Tunable::Phase phase) const {
  return original_->tunable()->tuned(values(phase), phase);
}

void Tuner::save(ByteWriter& out) const {
  out.put(done_);
  for (const Adaptation& a : adaptations_) a.save(out);
}

void Tuner::restore(ByteReader& in) {
  in.get(done_);
  for (Adaptation& a : adaptations_) a.restore(in);
}

}  // namespace saltus
