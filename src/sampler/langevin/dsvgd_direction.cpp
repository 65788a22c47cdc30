#include "sampler/langevin/dsvgd_direction.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/gemm.hpp"

namespace saltus {

void softmax(std::span<double> log_weight) {
  double top = -std::numeric_limits<double>::infinity();
  for (double& l : log_weight) {
    if (!std::isfinite(l)) l = -std::numeric_limits<double>::infinity();
    top = std::max(top, l);
  }
  double sum = 0;
  for (double& l : log_weight) {
    l = std::isfinite(l) ? std::exp(l - top) : 0;
    sum += l;
  }
  for (double& l : log_weight) l = sum > 0 ? l / sum : 0;
}

double kernel_gamma(std::span<float> distances, int particles) {
  const auto upper = distances.begin() + static_cast<std::ptrdiff_t>(distances.size() / 2);
  std::nth_element(distances.begin(), upper, distances.end());
  double median = double{*upper};
  if (distances.size() % 2 == 0) {
    median = (median + double{*std::max_element(distances.begin(), upper)}) / 2;
  }
  const double h = median / (2 * std::log(particles + 1.0));
  return 1 / (1e-8 + 2 * h);
}

namespace {

// |z_i|^2 + |z_j|^2 - 2 z_i z_j; rounding must neither make it negative nor part a particle from
// itself.
void squared_distances(Rows<const float> z, float* out) {
  const int n = z.rows;
  ops::multiply_transposed(n, n, z.cols, z.data, z.stride, z.data, z.stride, out, n);
  const Rows<float> d{out, n, n, n};
  for (int i = 0; i < n; ++i) {
    for (int j = i + 1; j < n; ++j) {
      d[i][j] = d[j][i] = std::max(0.0f, d[i][i] + d[j][j] - 2 * d[i][j]);
    }
  }
  for (int i = 0; i < n; ++i) d[i][i] = 0;
}

}  // namespace

// -d/dz_i sum_j K_ij w_j = 2 gamma sum_j K_ij w_j (z_i - z_j): particles repel one another.
void dsvgd_direction(Rows<const float> z, Rows<const float> gradient,
                     std::span<const double> weight, Scratch& room, Rows<float> phi) {
  const int n = z.rows, dim = z.cols;
  const std::size_t pairs = weight.size() * weight.size();
  float* kernel = room.get<float>(2, pairs);  // |z_i - z_j|^2, then K_ij w_j
  squared_distances(z, kernel);
  const std::span distances(room.get<float>(3, pairs), pairs);
  std::copy_n(kernel, pairs, distances.data());
  const double gamma = kernel_gamma(distances, n);
  for (std::size_t p = 0; p < pairs;) {
    for (const double w : weight) {
      kernel[p] = static_cast<float>(std::exp(-gamma * double{kernel[p]}) * w);
      ++p;
    }
  }
  float* pull = room.get<float>(4, weight.size() * static_cast<std::size_t>(dim));
  ops::multiply(n, dim, n, kernel, n, z.data, z.stride, pull, dim);
  ops::multiply(n, dim, n, kernel, n, gradient.data, gradient.stride, phi.data, phi.stride);
  for (int i = 0; i < n; ++i) {
    const float* row = kernel + static_cast<std::ptrdiff_t>(i) * n;
    double sum = 0;
    for (int j = 0; j < n; ++j) sum += double{row[j]};
    for (int k = 0; k < dim; ++k) {
      const double repulsion = sum * double{z[i][k]} - double{pull[std::ptrdiff_t{i} * dim + k]};
      phi[i][k] += static_cast<float>(2 * gamma * repulsion);
    }
  }
}

}  // namespace saltus
