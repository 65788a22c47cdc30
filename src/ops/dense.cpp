#include "ops/dense.hpp"

#include <algorithm>

#ifdef SALTUS_HAVE_BLAS
#include <cblas.h>
extern "C" void openblas_set_num_threads(int) __attribute__((weak));
#endif

namespace saltus::ops {
namespace {

// out = v * matrix for a symmetric matrix; v and out are rows x n without gaps.
void multiply(Rows<const float> matrix, const float* v, int rows, float* out) {
  const int n = matrix.rows;
#ifdef SALTUS_HAVE_BLAS
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, n, n, 1.0f, v, n, matrix.data,
              matrix.stride, 0.0f, out, n);
#else
  std::fill(out, out + static_cast<std::ptrdiff_t>(rows) * n, 0.0f);
  for (int k = 0; k < n; ++k) {
    for (int r = 0; r < rows; ++r) {
      const float vk = v[static_cast<std::ptrdiff_t>(r) * n + k];
      float* row = out + static_cast<std::ptrdiff_t>(r) * n;
      for (int i = 0; i < n; ++i) row[i] += vk * matrix[k][i];
    }
  }
#endif
}

}  // namespace

void dense_fields(Rows<const float> matrix, const float* field, float first_value, float spacing,
                  Rows<const Symbol> x, Rows<float> score, double* logp, float* room) {
  const int n = matrix.rows;
  float* v = room;
  float* product = room + static_cast<std::ptrdiff_t>(x.rows) * n;
  for (int r = 0; r < x.rows; ++r) {
    float* row = v + static_cast<std::ptrdiff_t>(r) * n;
    for (int i = 0; i < n; ++i) row[i] = first_value + spacing * static_cast<float>(x[r][i]);
  }
  multiply(matrix, v, x.rows, product);
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

void single_threaded_blas() {
#ifdef SALTUS_HAVE_BLAS
  if (openblas_set_num_threads) openblas_set_num_threads(1);
#endif
}

}  // namespace saltus::ops
