// Gibbs updates of a dense two-level pairwise model: the specification.
#include <cmath>

#include "core/scalar_math.hpp"
#include "ops/ops.hpp"
#include "ops/passes.hpp"

namespace saltus::ops::scalar {

uint32_t gibbs_dense(const DenseGibbs& m, Symbol* x, float*, const int32_t* order, int count,
                     const Stream& stream, uint32_t first_word) {
  uint32_t changed = 0;
  for (int t = 0; t < count; ++t) {
    const int32_t i = order[t];
    double field = double{m.field[i]};
    for (int j = 0; j < m.matrix.cols; ++j) {
      field += double{m.matrix[i][j]} * (double{m.first_value} + double{m.spacing} * x[j]);
    }
    const double h = double{m.spacing};
    const double l = h * field + h * h * double{m.matrix[i][i]} * (0.5 - x[i]);
    // Decided by the unlikelier level, whose probability keeps its digits.
    const uint32_t word = stream.sequence(first_word + static_cast<uint32_t>(t));
    const bool unlikely = ((word >> 1) + 0.5) * 0x1p-31 < sigmoid(-std::abs(l));
    const Symbol drawn = unlikely != (l >= 0);
    changed += drawn != x[i];
    x[i] = drawn;
  }
  return changed;
}

}  // namespace saltus::ops::scalar
