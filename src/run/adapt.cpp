#include "saltus/run/adapt.hpp"

#include <algorithm>
#include <cmath>

namespace saltus {

void Adaptation::update(double acceptance) {
  ++done_;
  // The gain falls only when the error changes sign (Kesten 1958): a poor start is left at full
  // speed, and near the goal the steps shrink like t^-0.6.
  const double error = acceptance - tuning_.acceptance;
  if (error * last_error_ < 0) ++turns_;
  last_error_ = error;
  const double gain = 4 * std::pow(1 + static_cast<double>(turns_), -0.6);
  value_ = std::clamp(value_ + gain * error, tuning_.low, tuning_.high);
  if (2 * done_ > updates_) {
    sum_ += value_;
    ++averaged_;
  }
}

void Adaptation::save(ByteWriter& out) const {
  out.put(done_);
  out.put(averaged_);
  out.put(turns_);
  out.put(last_error_);
  out.put(value_);
  out.put(sum_);
}

void Adaptation::restore(ByteReader& in) {
  done_ = in.get<std::uint64_t>();
  averaged_ = in.get<std::uint64_t>();
  turns_ = in.get<std::uint64_t>();
  last_error_ = in.get<double>();
  value_ = in.get<double>();
  sum_ = in.get<double>();
}

}  // namespace saltus
