// Changes of single weights of a binary network: every weight but the last belongs to one hidden
// unit, whose pre-activations W1' z + b1 are computed anew from the data.
#include <algorithm>
#include <array>

#include "ops/ops.hpp"
#include "saltus/target/binary_network.hpp"

namespace saltus {
namespace {

constexpr int kBlock = 1024;  // rows of data at once

using Block = std::array<float, kBlock>;

float weight_of(Symbol level) {
  return level ? 1.0f : -1.0f;
}

// One hidden unit of a state.
class Unit {
 public:
  Unit(const BinaryNetworkShape& shape, const Symbol* x, int h)
      : shape_(shape),
        x_(x),
        h_(h),
        bias(weight_of(x[shape.first_bias() + h])),
        weight(weight_of(x[shape.second_weight() + h])) {}

  // W1' z of n rows of data from `begin` on.
  void inputs(Rows<const float> by_feature, int begin, int n, float* out) const {
    constexpr int kTogether = 64;
    std::array<ops::ScaledRow, kTogether> terms;
    by_feature.data += begin;
    std::fill_n(out, padded(n), 0.0f);
    for (int first = 0; first < shape_.features; first += kTogether) {
      const int count = std::min(kTogether, shape_.features - first);
      for (int k = 0; k < count; ++k) {
        terms[static_cast<std::size_t>(k)] = {first + k,
                                              weight_of(x_[(first + k) * shape_.hidden + h_])};
      }
      ops::active().add_rows(n, by_feature, terms.data(), count, out, out);
    }
  }

 private:
  const BinaryNetworkShape& shape_;
  const Symbol* x_;
  int h_;

 public:
  const float bias, weight;
};

}  // namespace

// each(begin, n, logits): the logits of n rows of data from `begin` on, once coordinate i has the
// other level.
template <class Each>
void BinaryNetwork::for_each_flipped_logits(const LocalRow& row, int i, Each each) const {
  const BinaryNetworkShape shape = network();
  const ops::Ops& ops = ops::active();
  const Rows<const float> by_feature = data_->by_feature.view();
  const float change = -2 * weight_of(row.x[i]);
  const bool of_inputs = i < shape.first_bias(), of_bias = !of_inputs && i < shape.second_weight();
  alignas(64) Block now, then, logits;
  for (int begin = 0; begin < rows().rows(); begin += kBlock) {
    const int n = std::min(kBlock, rows().rows() - begin);
    std::copy_n(row.target_cache + begin, padded(n), logits.data());
    if (i == shape.second_bias()) {
      for (int r = 0; r < n; ++r) logits[static_cast<std::size_t>(r)] += change;
    } else {
      const Unit unit(shape, row.x, i % shape.hidden);
      unit.inputs(by_feature, begin, n, now.data());
      if (of_inputs) {
        Rows<const float> block = by_feature;
        block.data += begin;
        const ops::ScaledRow term{i / shape.hidden, change};
        ops.add_rows(n, block, &term, 1, now.data(), then.data());
      } else if (of_bias) {
        then = now;
      }
      if (of_inputs || of_bias) {
        ops.tanh_unit(n, unit.bias, -unit.weight, now.data(), logits.data());
        ops.tanh_unit(n, of_bias ? -unit.bias : unit.bias, unit.weight, then.data(), logits.data());
      } else {
        ops.tanh_unit(n, unit.bias, change, now.data(), logits.data());
      }
    }
    each(begin, n, logits.data());
  }
}

void BinaryNetwork::differences(const LocalRow& row, int i, int first, int count,
                                double* out) const {
  std::fill_n(out, count, 0.0);
  const int other = 1 - row.x[i];
  if (other < first || other >= first + count) return;
  const float* y = data_->y.view()[0];
  double before = 0, after = 0;
  for_each_flipped_logits(row, i, [&](int begin, int n, const float* logits) {
    before += ops::active().squared_errors(n, row.target_cache + begin, y + begin, 0, nullptr);
    after += ops::active().squared_errors(n, logits, y + begin, 0, nullptr);
  });
  out[other - first] = -options_.temperature * (after - before) / rows().rows();
}

void BinaryNetwork::move(const LocalRow& row, int i, Symbol to) const {
  if (to == row.x[i]) return;
  if (row.target_cache) {
    for_each_flipped_logits(row, i, [&](int begin, int n, const float* logits) {
      std::copy_n(logits, n, row.target_cache + begin);
    });
  }
  row.x[i] = to;
}

}  // namespace saltus
