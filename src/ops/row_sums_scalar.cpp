// Sums of rows and of values: the specification.
#include "ops/passes.hpp"

namespace saltus::ops::scalar {

// In single precision: the sum is kept from step to step, and so is its rounding.
void add_rows(int n, Rows<const float> matrix, const ScaledRow* terms, int count, const float* from,
              float* to) {
  for (int i = 0; i < n; ++i) {
    float sum = from[i];
    for (int k = 0; k < count; ++k) sum += terms[k].factor * matrix[terms[k].row][i];
    to[i] = sum;
  }
}

double weigh_values(int n, const Symbol* x, float first_value, float spacing, const float* a,
                    const double* b) {
  double sum = 0;
  for (int i = 0; i < n; ++i) {
    sum += (double{first_value} + double{spacing} * x[i]) * ((a ? double{a[i]} : 0.0) + b[i]);
  }
  return sum;
}

}  // namespace saltus::ops::scalar
