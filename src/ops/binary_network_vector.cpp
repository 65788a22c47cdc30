// A network's hidden tanh units and its error over rows of data, in lanes. Compiled once per
// instruction set.
//
//   tanh(z) = (1 - e) / (1 + e) with the sign of z,   e = exp(-2 |z|),
//
// which is off by at most 3e-7: e has a relative error below 2e-7, and the quotient's derivative by
// e is -2 / (1 + e)^2.
#include "ops/double_sum.hpp"
#include "ops/passes.hpp"

namespace saltus::ops::SALTUS_LEVEL_NAMESPACE {
namespace {

inline Float tanh_of(Float z) {
  const Int sign = (Int)z & INT32_MIN;
  const Float e = exp_minus(absolute(z + z));
  return (Float)((Int)((1.0f - e) / (1.0f + e)) | sign);
}

// The sum of sixteen lanes in a fixed order.
double total(const float lanes[kLanes]) {
  double all = 0;
  for (int j = 0; j < kLanes; ++j) all += static_cast<double>(lanes[j]);
  return all;
}

// 16 rows of data from `begin` on.
template <bool kLast>
inline void errors(int begin, int n, const float* logit, const float* y, float factor, float* slope,
                   DoubleSum& sum) {
  for (int part = 0; part < kParts; ++part) {
    const int here = begin + part * kWidth;
    const Float z = load<Float>(logit + here);
    const Float e = exp_minus(absolute(z)), scale = 1.0f / (1.0f + e);
    const Float f = (z >= 0.0f ? splat(1.0f) : e) * scale;
    Float miss = f - load<Float>(y + here), tilt = e * scale * scale;
    if constexpr (kLast) {
      const Int there = lanes_from_zero() < n - here;
      miss = there ? miss : Float{};
      tilt = there ? tilt : Float{};
    }
    sum.add(part, miss * miss);
    if (slope) store(slope + here, factor * miss * tilt);
  }
}

}  // namespace

void tanh_unit(int n, float bias, float weight, float* z, float* sum) {
  for (int at = 0; at < n; at += kWidth) {
    const Float t = tanh_of(load<Float>(z + at) + bias);
    store(z + at, t);
    store(sum + at, load<Float>(sum + at) + weight * t);
  }
}

double squared_errors(int n, const float* logit, const float* y, float factor, float* slope) {
  DoubleSum sum;
  const int whole = n / kLanes * kLanes;
  for (int at = 0; at < whole; at += kLanes) errors<false>(at, n, logit, y, factor, slope, sum);
  if (whole < n) errors<true>(whole, n, logit, y, factor, slope, sum);
  return sum.total();
}

UnitSlopes tanh_unit_slopes(int n, float weight, const float* slope, float* unit) {
  Float bias[kParts] = {}, second[kParts] = {};
  for (int at = 0; at < n; at += kLanes) {
    for (int part = 0; part < kParts; ++part) {
      const int here = at + part * kWidth;
      const Float t = load<Float>(unit + here), s = load<Float>(slope + here);
      const Float change = weight * s * (1.0f - t * t);
      bias[part] += change;
      second[part] += s * t;
      store(unit + here, change);
    }
  }
  float of_bias[kLanes], of_second[kLanes];
  for (int part = 0; part < kParts; ++part) {
    store(of_bias + part * kWidth, bias[part]);
    store(of_second + part * kWidth, second[part]);
  }
  return {total(of_bias), total(of_second)};
}

}  // namespace saltus::ops::SALTUS_LEVEL_NAMESPACE
