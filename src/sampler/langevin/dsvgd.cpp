#include "saltus/sampler/dsvgd.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/gemm.hpp"
#include "saltus/core/error.hpp"
#include "saltus/sampler/settings.hpp"
#include "sampler/entries.hpp"
#include "sampler/informed/surrogate.hpp"
#include "sampler/langevin/dsvgd_direction.hpp"

namespace saltus {
namespace {

constexpr double kBeta1 = 0.9, kBeta2 = 0.999, kAdamEpsilon = 1e-8;

// Moves one particle along phi. own: z, the means of phi and of phi^2, the number of steps; as a
// float the last one stops at 2^24, long after the powers of beta have vanished. False when phi was
// not finite somewhere, where it counts as 0.
bool adam_step(double learning_rate, const float* phi, int dim, float* own) {
  float *z = own, *mean = own + dim, *square = own + 2 * dim, &steps = own[3 * dim];
  steps += 1;
  const double bias1 = 1 - std::pow(kBeta1, double{steps});
  const double bias2 = 1 - std::pow(kBeta2, double{steps});
  bool finite = true;
  for (int i = 0; i < dim; ++i) {
    const double p = std::isfinite(phi[i]) ? double{phi[i]} : 0;
    finite = finite && std::isfinite(phi[i]);
    const double m = kBeta1 * double{mean[i]} + (1 - kBeta1) * p;
    const double v = kBeta2 * double{square[i]} + (1 - kBeta2) * p * p;
    mean[i] = static_cast<float>(m);
    square[i] = static_cast<float>(v);
    z[i] += static_cast<float>(learning_rate * (m / bias1) / (std::sqrt(v / bias2) + kAdamEpsilon));
  }
  return finite;
}

// A particle with a gradient that is not finite must not pull others: its weight goes with it.
void leave_out_nonfinite(Rows<float> gradient, std::span<double> log_weight) {
  for (int r = 0; r < gradient.rows; ++r) {
    const std::span<float> row = gradient.row(r);
    if (std::all_of(row.begin(), row.end(), [](float g) { return std::isfinite(g); })) continue;
    std::fill(row.begin(), row.end(), 0.0f);
    log_weight[static_cast<std::size_t>(r)] = NAN;
  }
}

}  // namespace

Dsvgd::Dsvgd(DsvgdOptions options) : options_(options) {
  if (!(options_.learning_rate > 0 && std::isfinite(options_.learning_rate))) {
    throw UsageError("learning_rate is " + std::to_string(options_.learning_rate) +
                     "; it must be a positive number");
  }
  check_temperature(options_.temperature);
  ops::load_blas();
}

std::string Dsvgd::missing(const Target& target) const {
  return missing_for_relaxed(target);
}

std::vector<Parameter> Dsvgd::parameters() const {
  return {{"learning_rate", options_.learning_rate}, {"temperature", options_.temperature}};
}

void Dsvgd::start(const Target&, Tile& tile, Workspace& work) const {
  const int dim = tile.x.cols;
  for (int r = 0; r < tile.rows(); ++r)
    std::fill_n(tile.sampler_cache[r], tile.sampler_cache.cols, 0.0f);
  start_relaxed(tile, work.seed,
                {tile.sampler_cache.data, tile.rows(), dim, tile.sampler_cache.stride});
}

void Dsvgd::step(const Target& target, Tile& tile, Workspace& work,
                 std::span<StepInfo> info) const {
  const int rows = tile.rows(), dim = tile.x.cols;
  const auto count = static_cast<std::size_t>(rows);
  const std::size_t entries = count * static_cast<std::size_t>(padded(dim));
  float* memory = work.sampler_scratch.get<float>(0, 2 * entries);
  const Rows<float> gradient{memory, rows, dim, padded(dim)};
  const Rows<float> phi{memory + entries, rows, dim, padded(dim)};
  const std::span weight(work.sampler_scratch.get<double>(1, count), count);
  const Rows<const float> z{tile.sampler_cache.data, rows, dim, tile.sampler_cache.stride};

  surrogate(target, options_.temperature, z, tile.step, work, weight.data(), gradient);
  for (std::size_t j = 0; j < count; ++j) weight[j] -= tile.logp[j];  // log p_s - log p_t
  leave_out_nonfinite(gradient, weight);
  for (std::size_t j = 0; j < count; ++j) info[j] = {1, 0, 0, true, !std::isfinite(weight[j])};
  softmax(weight);
  dsvgd_direction(z, gradient, weight, work.sampler_scratch, phi);
  for (int r = 0; r < rows; ++r) {
    StepInfo& done = info[static_cast<std::size_t>(r)];
    if (!adam_step(options_.learning_rate, phi[r], dim, tile.sampler_cache[r]))
      done.nonfinite = true;
    done.proposed = done.changed = threshold(tile.sampler_cache[r], dim, tile.x[r], tile.x[r]);
    if (done.changed) tile.score_current = tile.target_cache_current = false;
  }
  target.evaluate(work.at(tile.step + 1), tile.x, tile.logp, {});
  work.evaluations.gradient += count;
  work.evaluations.logp += count;
  ++tile.step;
}

SamplerEntry dsvgd_entry() {
  return {"dsvgd",
          "Stein variational descent of all chains as particles: deterministic, approximate",
          {"learning_rate", "temperature"},
          [](const Target&, const Settings& s) -> std::unique_ptr<Sampler> {
            DsvgdOptions options;
            options.learning_rate =
                number_setting(s, "learning_rate").value_or(options.learning_rate);
            options.temperature = number_setting(s, "temperature").value_or(options.temperature);
            return std::make_unique<Dsvgd>(options);
          }};
}

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
