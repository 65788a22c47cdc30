#include "saltus/learn/trainable_ising.hpp"

#include <algorithm>
#include <numeric>

#include "diagnose/columns/ranks.hpp"
#include "ops/gemm.hpp"
#include "saltus/core/error.hpp"
#include "saltus/core/philox.hpp"
#include "saltus/io/model_file.hpp"

namespace saltus {
namespace {

constexpr int kSpinsPerTask = 64;  // rows of s s' that make a task

}  // namespace

TrainableIsing::TrainableIsing(int spins, bool fields, const Start& start) : spins_(spins) {
  if (spins < 2) throw UsageError("an Ising model needs at least two spins to have couplings");
  const auto n = static_cast<std::size_t>(spins);
  parameters_.resize(n * n + (fields ? n : 0));
  const Stream stream(start.seed, kAllChains, 0, Purpose::start);
  const auto normal = [&](std::size_t i, std::size_t j) {
    return start.deviation * normal_quantile(stream.uniform(static_cast<std::uint32_t>(i * n + j)));
  };
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const auto value = static_cast<float>((normal(i, j) + normal(j, i)) / 2);
      parameters_[i * n + j] = parameters_[j * n + i] = value;
    }
  }
  symmetric_.resize(n * n);
  quadratic_ = std::make_unique<Quadratic>("ising", Domain::spin(spins), std::vector<Coupling>{},
                                           std::vector<double>{}, Quadratic::Storage::dense);
  parameters_changed();
}

void TrainableIsing::parameters_changed() {
  const auto n = static_cast<std::size_t>(spins_);
  for (std::size_t i = 0; i < n; ++i) parameters_[i * n + i] = 0;
  for (std::size_t e = 0; e < n * n; ++e) symmetric_[e] = 2 * parameters_[e];
  const std::vector<float> none(fields().empty() ? n : 0);
  quadratic_->set_matrix(symmetric_, fields().empty() ? none : fields());
}

void TrainableIsing::load(Rows<const Symbol> rows, int at) {
  for (int r = 0; r < rows.rows; ++r) {
    float* to = values_.view()[at + r];
    for (int i = 0; i < spins_; ++i) to[i] = 2.0f * static_cast<float>(rows[r][i]) - 1.0f;
  }
}

// Copies what is above the blocks of the diagonal to where it belongs below.
void TrainableIsing::mirror(std::span<float> gradient) const {
  const auto n = static_cast<std::size_t>(spins_);
  for (std::size_t first = 0; first < n; first += kSpinsPerTask) {
    const std::size_t end = std::min(first + kSpinsPerTask, n);
    for (std::size_t j = end; j < n; ++j) {
      for (std::size_t r = first; r < end; ++r) gradient[j * n + r] = gradient[r * n + j];
    }
  }
}

// Sums of products of spins are whole numbers, and exact in single precision. They are symmetric,
// as G is.
double TrainableIsing::contrast(Rows<const Symbol> data, Rows<const Symbol> samples,
                                std::span<float> gradient, const Workers& workers) {
  const int rows = data.rows + samples.rows, tasks = (spins_ + kSpinsPerTask - 1) / kSpinsPerTask;
  if (values_.view().rows != rows) values_ = RowBuffer<float>(rows, spins_);
  if (products_.view().rows != workers.threads() * kSpinsPerTask) {
    products_ = RowBuffer<float>(workers.threads() * kSpinsPerTask, spins_);
  }
  load(data, 0);
  load(samples, data.rows);
  const Rows<float> v = values_.view();
  const auto of_data = static_cast<float>(data.rows), of_samples = static_cast<float>(samples.rows);
  std::vector<double> gap(static_cast<std::size_t>(tasks));
  const auto spins_before = [&](int task) { return std::min(task * kSpinsPerTask, spins_); };
  workers.for_each(tasks, [&](int task, int thread) {
    const int first = spins_before(task), count = spins_before(task + 1) - first;
    const int width = spins_ - first;  // the columns from the diagonal on; the others mirror them
    float* out = gradient.data() + static_cast<std::ptrdiff_t>(first) * (spins_ + 1);
    const float* g = parameters_.data() + (out - gradient.data());
    const Rows<float> room{products_.view()[thread * kSpinsPerTask], count, width,
                           products_.view().stride};
    ops::transposed_multiply(count, width, data.rows, v.data + first, v.stride, v.data + first,
                             v.stride, out, spins_);
    ops::transposed_multiply(count, width, samples.rows, v[data.rows] + first, v.stride,
                             v[data.rows] + first, v.stride, room.data, room.stride);
    for (int r = 0; r < count; ++r) {
      const std::ptrdiff_t row = static_cast<std::ptrdiff_t>(r) * spins_;
      float within = 0, beyond = 0;
      for (int j = 0; j < width; ++j) {
        out[row + j] = out[row + j] / of_data - room[r][j] / of_samples;
        (j < count ? within : beyond) += g[row + j] * out[row + j];
      }
      gap[static_cast<std::size_t>(task)] += double{within} + 2 * double{beyond};
    }
  });
  workers.exchange(gradient.first(weights()), tasks, spins_before);
  workers.exchange(std::span(gap), tasks, [](int task) { return task; });
  mirror(gradient);
  double difference = std::accumulate(gap.begin(), gap.end(), 0.0);
  const std::span<const float> h = fields();
  for (std::size_t i = 0; i < h.size(); ++i) {
    float of = 0, against = 0;
    for (int r = 0; r < rows; ++r) (r < data.rows ? of : against) += v[r][i];
    gradient[weights() + i] = of / of_data - against / of_samples;
    difference += double{h[i]} * double{gradient[weights() + i]};
  }
  return difference;
}

void TrainableIsing::write(const std::filesystem::path& path) const {
  QuadraticModel model = quadratic_->model();
  write_model(path, IsingModel{spins_, std::move(model.couplings), std::move(model.field)});
}

}  // namespace saltus
