#include "saltus/target/rbm.hpp"

#include <algorithm>
#include <cmath>

#include "ops/gemm.hpp"
#include "ops/scalar_math.hpp"
#include "saltus/core/error.hpp"

namespace saltus {

Rbm::Rbm(std::vector<double> weights, std::vector<double> visible_bias,
         std::vector<double> hidden_bias)
    : weights_(std::move(weights)),
      visible_bias_(std::move(visible_bias)),
      hidden_bias_(std::move(hidden_bias)),
      weights_single_(weights_.begin(), weights_.end()),
      domain_(Domain::binary(static_cast<int>(visible_bias_.size()))) {
  if (hidden_bias_.empty() || weights_.size() != visible_bias_.size() * hidden_bias_.size()) {
    throw DataError("an RBM with " + std::to_string(visible_bias_.size()) + " visible and " +
                    std::to_string(hidden_bias_.size()) + " hidden units cannot have " +
                    std::to_string(weights_.size()) + " weights");
  }
}

void Rbm::evaluate(const At& at, Rows<const Symbol> x, double* logp, Rows<float> score) const {
  const int visible = domain_.dim(), rows = x.rows;
  const auto count = static_cast<std::size_t>(rows);
  float* v = at.scratch.get<float>(0, count * visible_bias_.size());
  float* z = at.scratch.get<float>(1, count * hidden_bias_.size());
  for (int r = 0; r < rows; ++r) {
    std::copy_n(x[r], visible, v + static_cast<std::ptrdiff_t>(r) * visible);
  }
  ops::multiply_transposed(rows, hidden(), visible, v, visible, weights_single_.data(), visible, z,
                           hidden());
  for (int r = 0; r < rows; ++r) {
    float* row = z + static_cast<std::ptrdiff_t>(r) * hidden();
    double sum = 0;
    for (std::size_t h = 0; h < hidden_bias_.size(); ++h) {
      // One exponential serves both softplus and sigmoid.
      const float a = row[h] + static_cast<float>(hidden_bias_[h]), e = std::exp(-std::abs(a));
      if (logp) sum += static_cast<double>(std::max(a, 0.0f) + std::log1p(e));
      row[h] = (a >= 0 ? 1.0f : e) / (1.0f + e);
    }
    for (std::size_t i = 0; logp && i < visible_bias_.size(); ++i) {
      sum += visible_bias_[i] * x[r][i];
    }
    if (logp) logp[r] = sum;
  }
  if (!score) return;
  ops::multiply(rows, visible, hidden(), z, hidden(), weights_single_.data(), visible, score.data,
                score.stride);
  for (int r = 0; r < rows; ++r) {
    for (int i = 0; i < visible; ++i) {
      score[r][i] += static_cast<float>(visible_bias_[static_cast<std::size_t>(i)]);
    }
  }
}

void Rbm::evaluate_exact(const At&, Rows<const Symbol> x, double* logp, Rows<double> score) const {
  const std::size_t visible = visible_bias_.size();
  for (int r = 0; r < x.rows; ++r) {
    double sum = 0;
    for (std::size_t i = 0; i < visible; ++i) {
      sum += visible_bias_[i] * x[r][i];
      if (score) score[r][i] = visible_bias_[i];
    }
    for (std::size_t h = 0; h < hidden_bias_.size(); ++h) {
      const double* w = weights_.data() + h * visible;
      double z = hidden_bias_[h];
      for (std::size_t i = 0; i < visible; ++i) z += w[i] * x[r][i];
      sum += softplus(z);
      for (std::size_t i = 0; score && i < visible; ++i) score[r][i] += sigmoid(z) * w[i];
    }
    if (logp) logp[r] = sum;
  }
}

}  // namespace saltus
