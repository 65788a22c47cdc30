// Fields of a pairwise model on a sparse graph: the specification.
#include "ops/ops.hpp"
#include "ops/passes.hpp"

namespace saltus::ops::scalar {

void sparse_fields(const SparseFields& m, Rows<const Symbol> x, Rows<float> score, double* logp,
                   float*) {
  for (int r = 0; r < x.rows; ++r) {
    const auto value = [&](int i) { return double{m.first_value} + double{m.spacing} * x[r][i]; };
    const auto product = [&](const auto& matrix, int i) {
      double sum = 0;
      for (auto e = matrix.begin[i]; e < matrix.begin[i + 1]; ++e) {
        sum += double{matrix.weight[e]} * value(matrix.column[e]);
      }
      return sum;
    };
    for (int i = 0; score && i < m.n; ++i) {
      score[r][i] = static_cast<float>(product(m.full, i) + double{m.field[i]});
    }
    double sum = 0;
    for (int i = 0; logp && i < m.n; ++i) {
      sum += value(i) * (product(m.upper, i) + m.exact_field[i]);
    }
    if (logp) logp[r] = sum;
  }
}

}  // namespace saltus::ops::scalar
