// Matrix products in single precision, on BLAS where the build has one. All matrices are stored by
// rows, with `ld` entries between the starts of two rows.
#pragma once

#include "saltus/core/rows.hpp"

namespace saltus::ops {

// c (m x n) = a (m x k) b (k x n)
void multiply(int m, int n, int k, const float* a, int lda, const float* b, int ldb, float* c,
              int ldc);
// c += a b
void multiply_add(int m, int n, int k, const float* a, int lda, const float* b, int ldb, float* c,
                  int ldc);

// c (m x n) = a (m x k) b' with b (n x k)
void multiply_transposed(int m, int n, int k, const float* a, int lda, const float* b, int ldb,
                         float* c, int ldc);
// c += a b'
void multiply_transposed_add(int m, int n, int k, const float* a, int lda, const float* b, int ldb,
                             float* c, int ldc);

// c (m x n) = a' b with a (k x m), b (k x n)
void transposed_multiply(int m, int n, int k, const float* a, int lda, const float* b, int ldb,
                         float* c, int ldc);

// Of a dense pairwise model: fields (S v + b)_i of every row and, where wanted, logp = v'Sv/2 +
// b'v. `room` holds 2 * rows * n floats.
void dense_fields(Rows<const float> matrix, const float* field, float first_value, float spacing,
                  Rows<const Symbol> x, Rows<float> score, double* logp, float* room);

// Loads the BLAS, where the build uses one. Models and samplers that multiply call it when they
// are made, so that no step can fail. Throws UsageError.
void load_blas();

// While it lives, the BLAS runs on the calling thread alone: tiles are the unit of parallel work.
class OneBlasThread {
 public:
  OneBlasThread();
  ~OneBlasThread();
  OneBlasThread(const OneBlasThread&) = delete;
  OneBlasThread& operator=(const OneBlasThread&) = delete;

 private:
  int before_ = 0;  // threads to return to; 0: nothing was changed
};

}  // namespace saltus::ops
