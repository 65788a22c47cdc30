// A sum of floats or doubles in the sixteen lanes, in double. Compiled once per instruction set.
#pragma once

#include "ops/ops.hpp"
#include "ops/vector.hpp"

namespace saltus::ops::SALTUS_LEVEL_NAMESPACE {

constexpr int kHalf = kWidth / 2, kHalves = kLanes / kHalf;

inline Double lower_half(Float v) {
  HalfFloat half;
  memcpy(&half, &v, sizeof half);
  return __builtin_convertvector(half, Double);
}
inline Double upper_half(Float v) {
  HalfFloat half;
  memcpy(&half, reinterpret_cast<const char*>(&v) + sizeof half, sizeof half);
  return __builtin_convertvector(half, Double);
}

class DoubleSum {
 public:
  void add(int part, Float v) {
    sum_[2 * part] += lower_half(v);
    sum_[2 * part + 1] += upper_half(v);
  }
  void add(int half, Double v) { sum_[half] += v; }

  // Folds the lanes in halves, in the same order at every level.
  double total() const {
    double lanes[kLanes];
    for (int h = 0; h < kHalves; ++h) store(lanes + h * kHalf, sum_[h]);
    for (int half = kLanes / 2; half > 0; half /= 2) {
      for (int j = 0; j < half; ++j) lanes[j] += lanes[j + half];
    }
    return lanes[0];
  }

 private:
  Double sum_[kHalves] = {};
};

}  // namespace saltus::ops::SALTUS_LEVEL_NAMESPACE
