// Does a target's score agree with its logp? A public tool for users' own targets.
//
// A discrete logp is only known at the levels, so its derivative cannot be tested there in general.
// What can be tested, and what samplers rely on: along one coordinate the score must explain the
// change of logp. For a change of coordinate i from v to v', the trapezoid rule
//   logp(x') - logp(x)  =  (score_i(x) + score_i(x')) / 2 * (v' - v)  +  O(|v' - v|^3 f''')
// is exact when the extension is quadratic along the coordinate (Ising, Potts, quadratic), and
// close when it is smooth on the scale of a level. Where the callable accepts values between the
// levels, check_gradient compares with central differences instead.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "saltus/target/target.hpp"

namespace saltus {

struct GradientCheck {
  double worst_error = 0;  // |difference of logp - trapezoid|, relative to 1 + |difference|
  int coordinate = 0;      // where
  double difference = 0, predicted = 0;
  int changes = 0;         // changes of one coordinate that were tried
  bool finite = true;      // every logp and score was finite
  double correlation = 0;  // between difference and prediction; NaN when either is constant
  double slope = 0;        // of the difference on the prediction

  // At rounding level: what log-quadratic targets reach.
  bool exact() const { return finite && worst_error < 1e-6; }
  // The score explains most of every change, as a smooth extension's does.
  bool plausible() const {
    return exact() || (finite && correlation > 0.9 && slope > 0.7 && slope < 1.4);
  }
};

// Tries `changes` random changes of one coordinate by one level (any level for categorical ones) at
// random states.
GradientCheck check_score(const Target& target, int changes = 200, std::uint64_t seed = 1);

// For a callable that is defined between the levels, too: largest difference between its gradient
// and central differences with the given step, relative to 1 + |gradient|, at the point v.
using Extension = std::function<double(std::span<const double> v, std::span<double> gradient)>;
double check_gradient(const Extension& extension, std::span<const double> v, double step = 1e-5);

}  // namespace saltus
