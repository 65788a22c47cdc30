#include "saltus/target/rbm.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

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
  const std::size_t visible = visible_bias_.size();
  columns_.resize(weights_.size());
  for (std::size_t i = 0; i < visible; ++i) {
    for (std::size_t h = 0; h < hidden_bias_.size(); ++h) {
      columns_[i * hidden_bias_.size() + h] = weights_single_[h * visible + i];
    }
  }
  all_.resize(visible);
  std::iota(all_.begin(), all_.end(), 0);
}

void Rbm::evaluate(const At& at, Rows<const Symbol> x, double* logp, Rows<float> score) const {
  evaluate_kept(at, x, logp, score, {});
}

void Rbm::evaluate_kept(const At& at, Rows<const Symbol> x, double* logp, Rows<float> score,
                        Rows<float> kept) const {
  const int rows = x.rows;
  float* z = at.scratch.get<float>(1, static_cast<std::size_t>(rows) * hidden_bias_.size());
  hidden_log_odds(at, x, {z, rows, hidden(), hidden()});
  for (int r = 0; kept && r < rows; ++r) {
    std::copy_n(z + static_cast<std::ptrdiff_t>(r) * hidden(), hidden(), kept[r]);
  }
  if (!logp && !score) return;
  finish(z, rows, logp, score);
  for (int r = 0; logp && r < rows; ++r) {
    for (std::size_t i = 0; i < visible_bias_.size(); ++i) logp[r] += visible_bias_[i] * x[r][i];
  }
}

void Rbm::evaluate_relaxed(const At& at, Rows<const float> v, double* logp,
                           Rows<float> gradient) const {
  const int rows = v.rows, visible = domain_.dim();
  float* z = at.scratch.get<float>(1, static_cast<std::size_t>(rows) * hidden_bias_.size());
  ops::multiply_transposed(rows, hidden(), visible, v.data, v.stride, weights_single_.data(),
                           visible, z, hidden());
  for (int r = 0; r < rows; ++r) {
    for (int h = 0; h < hidden(); ++h) {
      z[r * hidden() + h] += static_cast<float>(hidden_bias_[static_cast<std::size_t>(h)]);
    }
  }
  finish(z, rows, logp, gradient);
  for (int r = 0; logp && r < rows; ++r) {
    for (std::size_t i = 0; i < visible_bias_.size(); ++i) {
      logp[r] += visible_bias_[i] * double{v[r][i]};
    }
  }
}

void Rbm::finish(float* z, int rows, double* logp, Rows<float> score) const {
  const int visible = domain_.dim();
  for (int r = 0; r < rows; ++r) {
    float* row = z + static_cast<std::ptrdiff_t>(r) * hidden();
    double sum = 0;
    for (int h = 0; h < hidden(); ++h) {
      // One exponential serves both softplus and sigmoid.
      const float a = row[h], e = std::exp(-std::abs(a));
      if (logp) sum += static_cast<double>(std::max(a, 0.0f) + std::log1p(e));
      row[h] = (a >= 0 ? 1.0f : e) / (1.0f + e);
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

void Rbm::differences(const LocalRow& row, int i, int first, int count, double* out) const {
  const float* column = columns_.data() + static_cast<std::ptrdiff_t>(i) * hidden();
  for (int m = 0; m < count; ++m) {
    const int change = first + m - row.x[i];
    double sum = change * visible_bias_[static_cast<std::size_t>(i)];
    for (int h = 0; change != 0 && h < hidden(); ++h) {
      const double z = double{row.kept[h]};
      sum += softplus(z + change * double{column[h]}) - softplus(z);
    }
    out[m] = sum;
  }
}

void Rbm::move(const LocalRow& row, int i, Symbol to) const {
  const float* column = columns_.data() + static_cast<std::ptrdiff_t>(i) * hidden();
  const auto change = static_cast<float>(to - row.x[i]);
  row.x[i] = to;
  for (int h = 0; h < hidden(); ++h) row.kept[h] += change * column[h];
}

void Rbm::hidden_log_odds(const At& at, Rows<const Symbol> x, Rows<float> out) const {
  const int visible = domain_.dim(), rows = x.rows;
  float* v = at.scratch.get<float>(0, static_cast<std::size_t>(rows) * visible_bias_.size());
  for (int r = 0; r < rows; ++r) {
    std::copy_n(x[r], visible, v + static_cast<std::ptrdiff_t>(r) * visible);
  }
  ops::multiply_transposed(rows, hidden(), visible, v, visible, weights_single_.data(), visible,
                           out.data, out.stride);
  for (int r = 0; r < rows; ++r) {
    for (int h = 0; h < hidden(); ++h) {
      out[r][h] += static_cast<float>(hidden_bias_[static_cast<std::size_t>(h)]);
    }
  }
}

void Rbm::visible_log_odds(const At& at, Rows<const Symbol> hidden_rows, Rows<float> out) const {
  const int visible = domain_.dim(), rows = hidden_rows.rows;
  float* on = at.scratch.get<float>(0, static_cast<std::size_t>(rows) * hidden_bias_.size());
  for (int r = 0; r < rows; ++r) {
    std::copy_n(hidden_rows[r], hidden(), on + static_cast<std::ptrdiff_t>(r) * hidden());
  }
  ops::multiply(rows, visible, hidden(), on, hidden(), weights_single_.data(), visible, out.data,
                out.stride);
  for (int r = 0; r < rows; ++r) {
    for (int i = 0; i < visible; ++i) {
      out[r][i] += static_cast<float>(visible_bias_[static_cast<std::size_t>(i)]);
    }
  }
}

void Rbm::hidden_log_odds_exact(const Symbol* x, double* out) const {
  const std::size_t visible = visible_bias_.size();
  for (std::size_t h = 0; h < hidden_bias_.size(); ++h) {
    out[h] = hidden_bias_[h];
    for (std::size_t i = 0; i < visible; ++i) out[h] += weights_[h * visible + i] * x[i];
  }
}

void Rbm::visible_log_odds_exact(const Symbol* hidden_row, double* out) const {
  const std::size_t visible = visible_bias_.size();
  for (std::size_t i = 0; i < visible; ++i) {
    out[i] = visible_bias_[i];
    for (std::size_t h = 0; h < hidden_bias_.size(); ++h) {
      out[i] += weights_[h * visible + i] * hidden_row[h];
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
