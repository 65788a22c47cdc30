#include "saltus/target/binary_network.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/scalar_math.hpp"
#include "ops/gemm.hpp"
#include "ops/ops.hpp"
#include "saltus/core/error.hpp"
#include "saltus/target/mini_batch.hpp"

namespace saltus {
namespace {

std::size_t size(int n) {
  return static_cast<std::size_t>(n);
}

std::ptrdiff_t offset(int row, int stride) {
  return static_cast<std::ptrdiff_t>(row) * stride;
}

float weight_of(Symbol level) {
  return level ? 1.0f : -1.0f;
}

// Who uses which part of the scratch.
enum Slot : std::size_t { kWeights, kUnits, kLogits, kSums, kBatch, kFeatures, kTargets };

// Rows of data in a block: its activations are about half a megabyte, which stays in the cache
// between the products.
int block_rows(int hidden) {
  constexpr int kEntries = 1 << 17;
  return std::clamp(kEntries / hidden / kRowPadding, 1, 16) * kRowPadding;
}

// Data as the passes want them: a row per feature, ends filled with 0 up to the padding.
struct Columns {
  Rows<const float> features;
  const float* y;
  int rows() const { return features.cols; }
};

// Rows of data, which[0], which[1], ... or, where this is null, those from `first` on.
Columns gather(Scratch& scratch, const RegressionRows& data, const std::uint32_t* which, int first,
               int count) {
  const int stride = padded(count);
  const Rows<float> to{scratch.get<float>(kFeatures, size(data.features) * size(stride)),
                       data.features, count, stride};
  float* y = scratch.get<float>(kTargets, size(stride));
  std::fill_n(y, stride, 0.0f);
  for (int f = 0; f < data.features; ++f) std::fill_n(to[f] + count, stride - count, 0.0f);
  for (int r = 0; r < count; ++r) {
    const int row = which ? static_cast<int>(which[r]) : first + r;
    const float* from = data.x.data() + offset(row, data.features);
    for (int f = 0; f < data.features; ++f) to[f][r] = from[f];
    y[r] = data.y[size(row)];
  }
  return {to, y};
}

void check_rows(const RegressionRows& rows) {
  const auto finite = [](float v) { return std::isfinite(v); };
  if (rows.features < 1 || rows.y.empty() || rows.x.size() != rows.y.size() * size(rows.features)) {
    throw DataError("data with " + std::to_string(rows.features) + " features and " +
                    std::to_string(rows.y.size()) + " targets cannot have " +
                    std::to_string(rows.x.size()) + " entries");
  }
  if (!std::all_of(rows.x.begin(), rows.x.end(), finite) ||
      !std::all_of(rows.y.begin(), rows.y.end(), finite)) {
    throw DataError("the data of a network must be finite numbers");
  }
}

void check_options(const BinaryNetworkOptions& options, int features, int rows) {
  constexpr int kMost = 1 << 30;
  if (options.hidden < 1 || options.hidden > kMost / (features + 2)) {
    throw UsageError("a network cannot have " + std::to_string(options.hidden) + " hidden units");
  }
  if (!(options.temperature > 0) || !std::isfinite(options.temperature)) {
    throw UsageError("the factor of a network's mean squared error must be above 0");
  }
  if (options.batch < 0 || options.batch > rows) {
    throw UsageError("a mini-batch of " + std::to_string(options.batch) + " out of " +
                     std::to_string(rows) + " rows is not possible");
  }
}

}  // namespace

// The network at one state. Products are of single precision; sums over rows of data run block by
// block, and in double where they are not products.
class BinaryNetwork::Pass {
 public:
  Pass(const BinaryNetworkShape& shape, Scratch& scratch, const Symbol* x)
      : shape_(shape),
        weights_(scratch.get<float>(kWeights, size(shape.dim()))),
        units_(scratch.get<float>(kUnits, size(shape.hidden) * size(block_rows(shape.hidden)))),
        sums_(scratch.get<double>(kSums, size(2 * shape.hidden + 1))) {
    std::transform(x, x + shape.dim(), weights_, weight_of);
    std::fill_n(sums_, 2 * shape.hidden + 1, 0.0);
  }

  // Logits of n rows of data from `begin` on, with room up to a multiple of 16. The units'
  // activations stay for `backward`.
  void forward(const Columns& data, int begin, int n, float* logits) {
    const int width = rounded(n), hidden = shape_.hidden;
    ops::transposed_multiply(hidden, width, shape_.features, weights_, hidden,
                             data.features.data + begin, data.features.stride, units_, width);
    std::fill_n(logits, width, weights_[shape_.second_bias()]);
    for (int h = 0; h < hidden; ++h) {
      ops_.tanh_unit(n, weights_[shape_.first_bias() + h], weights_[shape_.second_weight() + h],
                     units_ + offset(h, width), logits);
    }
  }

  // Adds the block's part of the score, from the slopes by the logits.
  void backward(const Columns& data, int begin, int n, const float* slope, float* score) {
    const int width = rounded(n), hidden = shape_.hidden;
    for (int h = 0; h < hidden; ++h) {
      const ops::UnitSlopes s = ops_.tanh_unit_slopes(n, weights_[shape_.second_weight() + h],
                                                      slope, units_ + offset(h, width));
      sums_[h] += s.bias;
      sums_[hidden + h] += s.weight;
    }
    for (int r = 0; r < n; ++r) sums_[2 * hidden] += double{slope[r]};
    const auto product = begin == 0 ? ops::multiply_transposed : ops::multiply_transposed_add;
    product(shape_.features, hidden, width, data.features.data + begin, data.features.stride,
            units_, width, score, hidden);
  }

  // After the last block.
  void finish(float* score) const {
    std::copy_n(sums_, 2 * shape_.hidden + 1, score + shape_.first_bias());
  }

 private:
  static int rounded(int n) { return (n + ops::kLanes - 1) / ops::kLanes * ops::kLanes; }

  BinaryNetworkShape shape_;
  float *weights_, *units_;
  double* sums_;  // b1, w2, b2
  const ops::Ops& ops_ = ops::active();
};

std::shared_ptr<const BinaryNetwork::Data> BinaryNetwork::by_columns(RegressionRows rows) {
  check_rows(rows);
  auto data = std::make_shared<Data>();
  data->by_feature = RowBuffer<float>(rows.features, rows.rows());
  data->y = RowBuffer<float>(1, rows.rows());
  for (int r = 0; r < rows.rows(); ++r) {
    const float* from = rows.x.data() + offset(r, rows.features);
    for (int f = 0; f < rows.features; ++f) data->by_feature.view()[f][r] = from[f];
  }
  std::copy(rows.y.begin(), rows.y.end(), data->y.view()[0]);
  data->rows = std::move(rows);
  return data;
}

BinaryNetwork::BinaryNetwork(RegressionRows rows, const BinaryNetworkOptions& options)
    : BinaryNetwork(by_columns(std::move(rows)), options) {}

BinaryNetwork::BinaryNetwork(const BinaryNetwork& other, const BinaryNetworkOptions& options)
    : BinaryNetwork(other.data_, options) {}

BinaryNetwork::BinaryNetwork(std::shared_ptr<const Data> data, const BinaryNetworkOptions& options)
    : data_(std::move(data)),
      options_((check_options(options, rows().features, rows().rows()), options)),
      domain_(Domain::binary(network().dim())),
      all_(size(domain_.dim())) {
  std::iota(all_.begin(), all_.end(), 0);
  ops::load_blas();
}

void BinaryNetwork::evaluate(const At& at, Rows<const Symbol> x, double* logp,
                             Rows<float> score) const {
  evaluate_and_cache(at, x, logp, score, {});
}

void BinaryNetwork::evaluate_and_cache(const At& at, Rows<const Symbol> x, double* logp,
                                       Rows<float> score, Rows<float> cache) const {
  Columns data{data_->by_feature.view(), data_->y.view()[0]};
  if (stochastic()) {
    const std::span batch(at.scratch.get<std::uint32_t>(kBatch, size(options_.batch)),
                          size(options_.batch));
    draw_batch(at.seed, at.step, static_cast<std::uint32_t>(rows().rows()), batch);
    data = gather(at.scratch, rows(), batch.data(), 0, options_.batch);
    cache = {};
  }
  const int block = block_rows(options_.hidden);
  // d logp / d logit = -2 temperature / rows (f - y) f (1 - f), and the weights are 2 x - 1.
  const auto factor = static_cast<float>(-4 * options_.temperature / data.rows());
  float* room = at.scratch.get<float>(kLogits, size(2 * block));
  for (int r = 0; r < x.rows; ++r) {
    Pass pass(network(), at.scratch, x[r]);
    double squares = 0;
    for (int begin = 0; begin < data.rows(); begin += block) {
      const int n = std::min(block, data.rows() - begin);
      float* logits = cache ? cache[r] + begin : room;
      float* slope = score ? room + block : nullptr;
      pass.forward(data, begin, n, logits);
      if (logp || score) {
        squares += ops::active().squared_errors(n, logits, data.y + begin, factor, slope);
      }
      if (score) pass.backward(data, begin, n, slope, score[r]);
    }
    if (logp) logp[r] = -options_.temperature * squares / data.rows();
    if (score) pass.finish(score[r]);
  }
}

void BinaryNetwork::evaluate_exact(const At& at, Rows<const Symbol> x, double* logp,
                                   Rows<double> score) const {
  const BinaryNetworkShape shape = network();
  const int features = shape.features, hidden = shape.hidden;
  std::vector<std::uint32_t> used(size(stochastic() ? options_.batch : rows().rows()));
  std::iota(used.begin(), used.end(), 0u);
  if (stochastic()) {
    draw_batch(at.seed, at.step, static_cast<std::uint32_t>(rows().rows()), used);
  }
  const double scale = -options_.temperature / static_cast<double>(used.size());
  std::vector<double> unit(size(hidden));
  for (int r = 0; r < x.rows; ++r) {
    const auto w = [&](int i) { return x[r][i] ? 1.0 : -1.0; };
    double sum = 0;
    for (int i = 0; score && i < shape.dim(); ++i) score[r][i] = 0;
    for (const std::uint32_t row : used) {
      const float* z = rows().x.data() + offset(static_cast<int>(row), features);
      double logit = w(shape.second_bias());
      for (int h = 0; h < hidden; ++h) {
        double a = w(shape.first_bias() + h);
        for (int f = 0; f < features; ++f) a += double{z[f]} * w(f * hidden + h);
        unit[size(h)] = std::tanh(a);
        logit += w(shape.second_weight() + h) * unit[size(h)];
      }
      const double f_z = sigmoid(logit), miss = f_z - double{rows().y[row]};
      sum += miss * miss;
      if (!score) continue;
      const double slope = 2 * scale * 2 * miss * f_z * sigmoid(-logit);
      score[r][shape.second_bias()] += slope;
      for (int h = 0; h < hidden; ++h) {
        const double t = unit[size(h)],
                     by_unit = slope * w(shape.second_weight() + h) * (1 - t * t);
        score[r][shape.second_weight() + h] += slope * t;
        score[r][shape.first_bias() + h] += by_unit;
        for (int f = 0; f < features; ++f) score[r][f * hidden + h] += by_unit * double{z[f]};
      }
    }
    if (logp) logp[r] = scale * sum;
  }
}

void BinaryNetwork::predict(Rows<const Symbol> x, const RegressionRows& at, Rows<float> out,
                            ThreadPool& pool) const {
  check_rows(at);
  if (at.features != rows().features) {
    throw DataError("data with " + std::to_string(at.features) +
                    " features do not fit a network of " + std::to_string(rows().features));
  }
  const ops::OneBlasThread one_thread;
  const int block = block_rows(options_.hidden);
  std::vector<Scratch> scratch(size(pool.threads()));
  pool.for_each(x.rows, [&](int r, int thread) {
    Scratch& own = scratch[size(thread)];
    Pass pass(network(), own, x[r]);
    float* logits = own.get<float>(kLogits, size(2 * block));
    for (int begin = 0; begin < at.rows(); begin += block) {
      const int n = std::min(block, at.rows() - begin);
      pass.forward(gather(own, at, nullptr, begin, n), 0, n, logits);
      ops::active().activate(n, logits, logits, false);
      std::copy_n(logits, n, out[r] + begin);
    }
  });
}

}  // namespace saltus
