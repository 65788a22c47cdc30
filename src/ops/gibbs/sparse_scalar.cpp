// Gibbs updates of a two-level pairwise model: the specification.
#include <cmath>

#include "core/scalar_math.hpp"
#include "ops/ops.hpp"
#include "ops/passes.hpp"

namespace saltus::ops::scalar {

void gibbs_pairs(const PairGibbs& m, Rows<Symbol> x, const int32_t* order, int count,
                 const Stream& first, uint32_t first_word, uint32_t* changed, uint16_t*) {
  for (int r = 0; r < x.rows; ++r) {
    Stream stream = first;
    stream.chain += static_cast<uint32_t>(r);
    for (int t = 0; t < count; ++t) {
      const int32_t i = order[t];
      double sum = x[r][i] ? -double{m.diagonal[i]} : 0.0;
      for (auto e = m.rows.begin[i]; e < m.rows.begin[i + 1]; ++e) {
        if (x[r][m.rows.column[e]]) sum += double{m.rows.weight[e]};
      }
      const double l = double{m.base[i]} + double{m.scale} * sum;
      // Decided by the unlikelier level, whose probability keeps its digits.
      const uint32_t word = stream.sequence(first_word + static_cast<uint32_t>(t));
      const bool unlikely = ((word >> 1) + 0.5) * 0x1p-31 < sigmoid(-std::abs(l));
      const Symbol drawn = unlikely != (l >= 0);
      changed[r] += drawn != x[r][i];
      x[r][i] = drawn;
    }
  }
}

}  // namespace saltus::ops::scalar
