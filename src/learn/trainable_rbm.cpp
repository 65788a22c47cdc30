#include "saltus/learn/trainable_rbm.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ops/gemm.hpp"
#include "ops/ops.hpp"
#include "saltus/core/error.hpp"
#include "saltus/core/philox.hpp"
#include "saltus/io/model_file.hpp"

namespace saltus {
namespace {

constexpr double kLeastMean = 0.01;
constexpr int kRowsPerTask = 32;  // rows of a matrix that make a task

int tasks_of(int rows) {
  return (rows + kRowsPerTask - 1) / kRowsPerTask;
}

template <class T>
std::span<T> all_of(Rows<T> rows) {
  return {rows.data, static_cast<std::size_t>(rows.rows) * static_cast<std::size_t>(rows.stride)};
}

std::size_t count_of(int visible, int hidden) {
  if (visible < 1 || hidden < 1) throw UsageError("an RBM needs visible and hidden units");
  return static_cast<std::size_t>(visible) * static_cast<std::size_t>(hidden);
}

std::vector<float> start(Rows<const Symbol> data, int hidden, std::uint64_t seed) {
  const std::size_t weights = count_of(data.cols, hidden);
  std::vector<float> all(weights);
  const Stream stream(seed, kAllChains, 0, Purpose::start);
  const double range = 1 / std::sqrt(static_cast<double>(data.cols));
  for (std::size_t i = 0; i < weights; ++i) {
    const double u = stream.uniform(static_cast<std::uint32_t>(i));
    all[i] = static_cast<float>(range * (2 * u - 1));
  }
  for (int i = 0; i < data.cols; ++i) {
    double sum = 0;
    for (int r = 0; r < data.rows; ++r) sum += data[r][i];
    const double mean = std::clamp(sum / data.rows, kLeastMean, 1 - kLeastMean);
    all.push_back(static_cast<float>(std::log(mean / (1 - mean))));
  }
  all.resize(all.size() + static_cast<std::size_t>(hidden));
  return all;
}

}  // namespace

TrainableRbm::TrainableRbm(Rows<const Symbol> data, int hidden, std::uint64_t seed)
    : visible_(data.cols),
      hidden_(hidden),
      parameters_(start(data, hidden, seed)),
      rbm_(std::vector<double>(count_of(visible_, hidden_)),
           std::vector<double>(static_cast<std::size_t>(visible_)),
           std::vector<double>(static_cast<std::size_t>(hidden_))) {
  parameters_changed();
}

std::size_t TrainableRbm::weights() const {
  return count_of(visible_, hidden_);
}

TrainableRbm::Parts TrainableRbm::parts(std::span<const float> all) const {
  const std::span biases = all.subspan(weights());
  const auto visible = static_cast<std::size_t>(visible_);
  return {all.first(weights()), biases.first(visible), biases.subspan(visible)};
}

void TrainableRbm::parameters_changed() {
  const Parts p = parts(parameters_);
  rbm_.set_parameters(p.weights, p.visible_bias, p.hidden_bias);
}

// Values of the units, to stand from row `at` on.
void TrainableRbm::load(Rows<const Symbol> x, int at) {
  for (int r = 0; r < x.rows; ++r) std::copy_n(x[r], x.cols, values_.view()[at + r]);
}

// Activations and logp of some rows that are loaded, times `factor`.
void TrainableRbm::activate(Rows<const Symbol> x, int at, double factor, Scratch& scratch) {
  const std::span bias = parts(parameters_).visible_bias;
  const Rows<float> on{activations_.view()[at], x.rows, hidden_, activations_.view().stride};
  rbm_.hidden_log_odds({0, 0, scratch}, x, on);
  for (int r = 0; r < x.rows; ++r) {
    double logp = ops::active().activate(hidden_, on[r], on[r], true);
    for (float& a : on.row(r)) a *= static_cast<float>(factor);
    for (std::size_t i = 0; i < bias.size(); ++i) logp += double{bias[i]} * x[r][i];
    logp_[static_cast<std::size_t>(at + r)] = factor * logp;
  }
}

// By tasks of some rows of the data, then of the samples.
void TrainableRbm::activate_all(Rows<const Symbol> data, Rows<const Symbol> samples,
                                const Workers& workers) {
  const int of_data = tasks_of(data.rows), tasks = of_data + tasks_of(samples.rows);
  const auto rows_before = [&](int task) {
    return task < of_data ? task * kRowsPerTask
                          : data.rows + std::min((task - of_data) * kRowsPerTask, samples.rows);
  };
  workers.for_each(tasks, [&](int task, int thread) {
    const bool real = task < of_data;
    const Rows<const Symbol>& x = real ? data : samples;
    const int at = rows_before(task), first = real ? at : at - data.rows;
    activate({x[first], std::min(kRowsPerTask, x.rows - first), x.cols, x.stride}, at,
             (real ? 1.0 : -1.0) / x.rows, scratch_[static_cast<std::size_t>(thread)]);
  });
  workers.exchange(all_of(activations_.view()), tasks, rows_before);
  workers.exchange(std::span(logp_), tasks, rows_before);
}

double TrainableRbm::contrast(Rows<const Symbol> data, Rows<const Symbol> samples,
                              std::span<float> gradient, const Workers& workers) {
  const int rows = data.rows + samples.rows;
  if (logp_.size() != static_cast<std::size_t>(rows)) {
    values_ = RowBuffer<float>(rows, visible_);
    activations_ = RowBuffer<float>(rows, hidden_);
    logp_.resize(static_cast<std::size_t>(rows));
  }
  scratch_.resize(std::max(scratch_.size(), static_cast<std::size_t>(workers.threads())));
  load(data, 0);
  load(samples, data.rows);
  activate_all(data, samples, workers);

  const Rows<float> on = activations_.view(), v = values_.view();
  const int tasks = tasks_of(hidden_);
  const auto units_before = [&](int task) { return std::min(task * kRowsPerTask, hidden_); };
  workers.for_each(tasks, [&](int task, int) {
    const int first = units_before(task), count = units_before(task + 1) - first;
    ops::transposed_multiply(count, visible_, rows, on.data + first, on.stride, v.data, v.stride,
                             gradient.data() + static_cast<std::ptrdiff_t>(first) * visible_,
                             visible_);
  });
  workers.exchange(gradient.first(weights()), tasks, units_before);
  float *visible = gradient.data() + weights(), *hidden = visible + visible_;
  std::fill(visible, hidden + hidden_, 0.0f);
  for (int r = 0; r < rows; ++r) {
    const auto factor = static_cast<float>(r < data.rows ? 1.0 / data.rows : -1.0 / samples.rows);
    for (int i = 0; i < visible_; ++i) visible[i] += factor * v[r][i];
    for (int h = 0; h < hidden_; ++h) hidden[h] += on[r][h];
  }
  return std::accumulate(logp_.begin(), logp_.end(), 0.0);
}

void TrainableRbm::write(const std::filesystem::path& path) const {
  write_model(path, rbm_.model());
}

}  // namespace saltus
