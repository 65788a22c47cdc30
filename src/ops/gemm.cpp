#include "ops/gemm.hpp"

#include <algorithm>
#include <cstddef>

#ifdef SALTUS_HAVE_BLAS
#include <cblas.h>
extern "C" void openblas_set_num_threads(int) __attribute__((weak));
#endif

namespace saltus::ops {

#ifdef SALTUS_HAVE_BLAS

void multiply(int m, int n, int k, const float* a, int lda, const float* b, int ldb, float* c,
              int ldc) {
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1.0f, a, lda, b, ldb, 0.0f, c,
              ldc);
}

void multiply_add(int m, int n, int k, const float* a, int lda, const float* b, int ldb, float* c,
                  int ldc) {
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1.0f, a, lda, b, ldb, 1.0f, c,
              ldc);
}

void multiply_transposed(int m, int n, int k, const float* a, int lda, const float* b, int ldb,
                         float* c, int ldc) {
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, m, n, k, 1.0f, a, lda, b, ldb, 0.0f, c, ldc);
}

void multiply_transposed_add(int m, int n, int k, const float* a, int lda, const float* b, int ldb,
                             float* c, int ldc) {
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, m, n, k, 1.0f, a, lda, b, ldb, 1.0f, c, ldc);
}

void transposed_multiply(int m, int n, int k, const float* a, int lda, const float* b, int ldb,
                         float* c, int ldc) {
  cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, m, n, k, 1.0f, a, lda, b, ldb, 0.0f, c, ldc);
}

void single_threaded_blas() {
  if (openblas_set_num_threads) openblas_set_num_threads(1);
}

#else

namespace {
std::ptrdiff_t at(int row, int ld) {
  return static_cast<std::ptrdiff_t>(row) * ld;
}
}  // namespace

void multiply(int m, int n, int k, const float* a, int lda, const float* b, int ldb, float* c,
              int ldc) {
  for (int r = 0; r < m; ++r) std::fill_n(c + at(r, ldc), n, 0.0f);
  multiply_add(m, n, k, a, lda, b, ldb, c, ldc);
}

void multiply_add(int m, int n, int k, const float* a, int lda, const float* b, int ldb, float* c,
                  int ldc) {
  for (int r = 0; r < m; ++r) {
    float* row = c + at(r, ldc);
    for (int j = 0; j < k; ++j) {
      const float factor = a[at(r, lda) + j];
      for (int i = 0; i < n; ++i) row[i] += factor * b[at(j, ldb) + i];
    }
  }
}

void multiply_transposed(int m, int n, int k, const float* a, int lda, const float* b, int ldb,
                         float* c, int ldc) {
  for (int r = 0; r < m; ++r) std::fill_n(c + at(r, ldc), n, 0.0f);
  multiply_transposed_add(m, n, k, a, lda, b, ldb, c, ldc);
}

void multiply_transposed_add(int m, int n, int k, const float* a, int lda, const float* b, int ldb,
                             float* c, int ldc) {
  for (int r = 0; r < m; ++r) {
    for (int i = 0; i < n; ++i) {
      float sum = 0;
      for (int j = 0; j < k; ++j) sum += a[at(r, lda) + j] * b[at(i, ldb) + j];
      c[at(r, ldc) + i] += sum;
    }
  }
}

void transposed_multiply(int m, int n, int k, const float* a, int lda, const float* b, int ldb,
                         float* c, int ldc) {
  for (int r = 0; r < m; ++r) {
    float* row = c + at(r, ldc);
    std::fill_n(row, n, 0.0f);
    for (int j = 0; j < k; ++j) {
      const float factor = a[at(j, lda) + r];
      for (int i = 0; i < n; ++i) row[i] += factor * b[at(j, ldb) + i];
    }
  }
}

void single_threaded_blas() {}

#endif

}  // namespace saltus::ops
