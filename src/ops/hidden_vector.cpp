// Hidden units in lanes, one exponential each. Compiled once per instruction set.
//
//   softplus(z) = max(z, 0) + log(1 + e),   sigma(z) = 1/(1 + e) or e/(1 + e),   e = exp(-|z|).
#include "ops/double_sum.hpp"
#include "ops/log_q.hpp"
#include "ops/passes.hpp"

namespace saltus::ops::SALTUS_LEVEL_NAMESPACE {
namespace {

using Factors = LogQ<15>;  // factors 1 + e lie in [1, 2]

// softplus(-1000) = 0: what a unit beyond the end of the row counts as.
constexpr float kNoUnit = -1000.0f;

template <bool kLast>
inline Float units(Float z, int left) {
  if constexpr (!kLast) return z;
  return lanes_from_zero() < left ? z : splat(kNoUnit);
}

inline Float positive_part(Float z) {
  return z > 0.0f ? z : Float{};
}

struct Softplus {
  Factors factors;
  DoubleSum positive;
  double total() { return positive.total() - factors.total(); }
};

// 64 units from `begin` on.
template <bool kLast>
inline void activate_group(int begin, int n, const float* z, float* activation, bool want_softplus,
                           Softplus& sum) {
  for (int at = begin; at < begin + kGroup; at += kLanes) {
    if (kLast && at >= n) break;
    for (int part = 0; part < kParts; ++part) {
      const int here = at + part * kWidth;
      const Float v = units<kLast>(load<Float>(z + here), n - here);
      const Float e = exp_minus(absolute(v));
      const Float factor = e + 1.0f;
      if (activation) store(activation + here, (v >= 0.0f ? splat(1.0f) : e) / factor);
      if (!want_softplus) continue;
      sum.positive.add(part, positive_part(v));
      sum.factors.add(part, Float{}, factor);
    }
  }
  sum.factors.end_group();
}

// The factors before and after the change, and the change of the positive parts.
struct Change {
  Factors before, after;
  DoubleSum positive;
  double total() { return positive.total() + before.total() - after.total(); }
};

template <bool kLast>
inline void change_group(int begin, int n, const float* z, const float* w, float change,
                         Change& sum) {
  for (int at = begin; at < begin + kGroup; at += kLanes) {
    if (kLast && at >= n) break;
    for (int part = 0; part < kParts; ++part) {
      const int here = at + part * kWidth;
      const Float here_z = load<Float>(z + here), step = load<Float>(w + here) * change;
      const Float v = units<kLast>(here_z, n - here), u = units<kLast>(here_z + step, n - here);
      sum.before.add(part, Float{}, exp_minus(absolute(v)) + 1.0f);
      sum.after.add(part, Float{}, exp_minus(absolute(u)) + 1.0f);
      sum.positive.add(part, positive_part(u) - positive_part(v));
    }
  }
  sum.before.end_group();
  sum.after.end_group();
}

}  // namespace

double activate(int n, const float* z, float* activation, bool want_softplus) {
  Softplus sum;
  const int whole = n / kGroup * kGroup;
  for (int i = 0; i < whole; i += kGroup) {
    activate_group<false>(i, n, z, activation, want_softplus, sum);
  }
  if (whole < n) activate_group<true>(whole, n, z, activation, want_softplus, sum);
  return want_softplus ? sum.total() : 0;
}

double softplus_change(int n, const float* z, const float* w, float change) {
  Change sum;
  const int whole = n / kGroup * kGroup;
  for (int i = 0; i < whole; i += kGroup) change_group<false>(i, n, z, w, change, sum);
  if (whole < n) change_group<true>(whole, n, z, w, change, sum);
  return sum.total();
}

}  // namespace saltus::ops::SALTUS_LEVEL_NAMESPACE
