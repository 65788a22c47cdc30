// Sums of rows, fields of a sparse pairwise model, hidden units, and networks of tanh units over
// rows of data: the specification.
#include "core/scalar_math.hpp"
#include "ops/ops.hpp"
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

double activate(int n, const float* z, float* activation, bool want_softplus) {
  double sum = 0;
  for (int h = 0; h < n; ++h) {
    const double v = double{z[h]};
    if (want_softplus) sum += softplus(v);
    if (activation) activation[h] = static_cast<float>(sigmoid(v));
  }
  return sum;
}

double softplus_change(int n, const float* z, const float* w, float change) {
  double sum = 0;
  for (int h = 0; h < n; ++h) {
    const double v = double{z[h]};
    sum += softplus(v + double{change} * double{w[h]}) - softplus(v);
  }
  return sum;
}

void tanh_unit(int n, float bias, float weight, float* z, float* sum) {
  for (int r = 0; r < n; ++r) {
    const double t = std::tanh(double{z[r]} + double{bias});
    z[r] = static_cast<float>(t);
    sum[r] = static_cast<float>(double{sum[r]} + double{weight} * t);
  }
}

double squared_errors(int n, const float* logit, const float* y, float factor, float* slope) {
  double sum = 0;
  for (int r = 0; r < n; ++r) {
    const double f = sigmoid(double{logit[r]}), miss = f - double{y[r]};
    sum += miss * miss;
    if (slope)
      slope[r] = static_cast<float>(double{factor} * miss * f * sigmoid(-double{logit[r]}));
  }
  for (int r = n; slope && r % kLanes != 0; ++r) slope[r] = 0;
  return sum;
}

UnitSlopes tanh_unit_slopes(int n, float weight, const float* slope, float* unit) {
  UnitSlopes sums;
  for (int r = 0; r < n; ++r) {
    const double t = double{unit[r]}, s = double{slope[r]};
    const double change = s * double{weight} * (1 - t * t);
    sums.bias += change;
    sums.weight += s * t;
    unit[r] = static_cast<float>(change);
  }
  return sums;
}

}  // namespace saltus::ops::scalar
