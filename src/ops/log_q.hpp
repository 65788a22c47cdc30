// log q of a row, summed in the sixteen lanes. A coordinate contributes
//   -lost - log(factor),   lost >= 0,  factor >= 1,
// and factors are multiplied as long as they fit before one log is taken. Compiled once per
// instruction set.
#pragma once

#include "ops/ops.hpp"
#include "ops/vector.hpp"

extern "C" double log(double);

namespace saltus::ops::SALTUS_LEVEL_NAMESPACE {

// A group adds four factors to every lane. With factors up to 2^b, 4 b kGroups bits must stay below
// 60: then a lane fits into a float, and the product of all sixteen into a double.
template <int kGroups>
class LogQ {
 public:
  LogQ() { clear(); }
  void add(int part, Float lost, Float factor) {
    product_[part] *= factor;
    lost_[part] += lost;
  }
  void end_group() {
    if (++groups_ == kGroups) flush();
  }
  double total() {
    flush();
    return total_;
  }

 private:
  void clear() {
    for (int p = 0; p < kParts; ++p) product_[p] = splat(1.0f), lost_[p] = Float{};
    groups_ = 0;
  }

  // Folds the lanes in halves, in double, in the same order at every level.
  void flush() {
    double factors[kLanes], lost[kLanes];
    for (int p = 0; p < kParts; ++p) {
      for (int j = 0; j < kWidth; ++j) {
        factors[p * kWidth + j] = static_cast<double>(product_[p][j]);
        lost[p * kWidth + j] = static_cast<double>(lost_[p][j]);
      }
    }
    for (int half = kLanes / 2; half > 0; half /= 2) {
      for (int j = 0; j < half; ++j) {
        factors[j] *= factors[j + half];
        lost[j] += lost[j + half];
      }
    }
    total_ -= lost[0] + log(factors[0]);
    clear();
  }

  Float product_[kParts], lost_[kParts];
  double total_ = 0;
  int groups_ = 0;
};

}  // namespace saltus::ops::SALTUS_LEVEL_NAMESPACE
