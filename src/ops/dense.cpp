#include "ops/dense.hpp"

#include "ops/gemm.hpp"

namespace saltus::ops {

void dense_fields(Rows<const float> matrix, const float* field, float first_value, float spacing,
                  Rows<const Symbol> x, Rows<float> score, double* logp, float* room) {
  const int n = matrix.rows;
  float* v = room;
  float* product = room + static_cast<std::ptrdiff_t>(x.rows) * n;
  for (int r = 0; r < x.rows; ++r) {
    float* row = v + static_cast<std::ptrdiff_t>(r) * n;
    for (int i = 0; i < n; ++i) row[i] = first_value + spacing * static_cast<float>(x[r][i]);
  }
  // v S for a symmetric S.
  multiply(x.rows, n, n, v, n, matrix.data, matrix.stride, product, n);
  for (int r = 0; r < x.rows; ++r) {
    const float* value = v + static_cast<std::ptrdiff_t>(r) * n;
    const float* pairs = product + static_cast<std::ptrdiff_t>(r) * n;
    double sum = 0;
    for (int i = 0; i < n; ++i) {
      if (score) score[r][i] = pairs[i] + field[i];
      sum += double{value[i]} * (double{pairs[i]} / 2 + double{field[i]});
    }
    if (logp) logp[r] = sum;
  }
}

}  // namespace saltus::ops
