// Sums of a matrix's rows, and of values, in lanes. Compiled once per instruction set.
#include "ops/double_sum.hpp"
#include "ops/ops.hpp"
#include "ops/passes.hpp"

namespace saltus::ops::SALTUS_LEVEL_NAMESPACE {

// 64 columns stay in registers while the rows pass by.
void add_rows(int n, Rows<const float> matrix, const ScaledRow* terms, int count, const float* from,
              float* to) {
  constexpr int kRegisters = kGroup / kWidth;
  for (int begin = 0; begin < n; begin += kGroup) {
    Float sum[kRegisters];
    for (int p = 0; p < kRegisters; ++p) sum[p] = load<Float>(from + begin + p * kWidth);
    for (int k = 0; k < count; ++k) {
      const float* row = matrix[terms[k].row] + begin;
      for (int p = 0; p < kRegisters; ++p) {
        sum[p] += terms[k].factor * load<Float>(row + p * kWidth);
      }
    }
    for (int p = 0; p < kRegisters; ++p) store(to + begin + p * kWidth, sum[p]);
  }
}

double weigh_values(int n, const Symbol* x, float first_value, float spacing, const float* a,
                    const double* b) {
  DoubleSum sum;
  const int whole = n / kLanes * kLanes;
  for (int at = 0; at < whole; at += kLanes) {
    for (int part = 0; part < kParts; ++part) {
      const int here = at + part * kWidth;
      const Int level = __builtin_convertvector(load<Half>(x + here), Int);
      const Float value = __builtin_convertvector(level, Float) * spacing + first_value;
      const Float addend = a ? load<Float>(a + here) : Float{};
      const Double low = lower_half(addend) + load<Double>(b + here),
                   high = upper_half(addend) + load<Double>(b + here + kHalf);
      sum.add(2 * part, lower_half(value) * low);
      sum.add(2 * part + 1, upper_half(value) * high);
    }
  }
  double rest = 0;
  for (int i = whole; i < n; ++i) {
    const float value = static_cast<float>(x[i]) * spacing + first_value;
    rest += static_cast<double>(value) * ((a ? static_cast<double>(a[i]) : 0.0) + b[i]);
  }
  return sum.total() + rest;
}

}  // namespace saltus::ops::SALTUS_LEVEL_NAMESPACE
