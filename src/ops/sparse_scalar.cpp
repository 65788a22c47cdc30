// Fields of a pairwise model on a sparse graph: the specification.
#include "ops/ops.hpp"
#include "ops/passes.hpp"

namespace saltus::ops::scalar {

void sparse_fields(const SparseFields& m, Rows<const Symbol> x, Rows<float> score, double* logp,
                   float*) {
  const auto value = [&](int r, int i) {
    return double{m.first_value} + double{m.spacing} * x[r][i];
  };
  for (int r = 0; r < x.rows; ++r) {
    double sum = 0;
    for (int i = 0; i < m.n; ++i) {
      double pairs = 0;
      for (auto e = m.begin[i]; e < m.begin[i + 1]; ++e) {
        pairs += m.weight[e] * value(r, m.column[e]);
      }
      if (score) score[r][i] = static_cast<float>(pairs + m.field[i]);
      sum += value(r, i) * (pairs / 2 + m.field[i]);
    }
    if (logp) logp[r] = sum;
  }
}

}  // namespace saltus::ops::scalar
