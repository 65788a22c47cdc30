// How the gradient of a residual network by its parameters is computed: as products of matrices.
//
// A map lies in memory place by place, its channels side by side. Row m of a matrix of patches
// holds what the kernel of a convolution sees at place m of its output: tap after tap all channels,
// then a one, whose weight is the bias, then zeros up to a multiple of four. The convolution is
// this matrix times one of weights. Where a block halves the map, the weights of its shortcut are
// more columns of the first convolution's, with zeros at all taps but the middle one.
#pragma once

#include <cstdint>
#include <vector>

#include "saltus/core/both.hpp"
#include "saltus/target/resnet_energy.hpp"

namespace saltus::cuda::resnet {

inline constexpr int kTaps3x3 = 9, kMiddleTap = 4;

struct Convolution {
  int in, channels;  // channels of its input, and of its output,
  bool shortcut;     // beside which the shortcut's lie
  bool swish;        // of the input comes first
  int stride;
  int in_height, in_width, out_height, out_width;
  int depth;                  // entries of a patch
  std::int64_t weight, bias;  // where they lie among the network's parameters
  std::int64_t shortcut_weight, shortcut_bias;
  std::int64_t matrix;  // where its weights begin among the matrices of all

  SALTUS_BOTH int out() const { return shortcut ? 2 * channels : channels; }
  SALTUS_BOTH std::int64_t matrix_size() const { return std::int64_t{depth} * out(); }
  SALTUS_BOTH std::int64_t in_places(int images) const {
    return std::int64_t{images} * in_height * in_width;
  }
  SALTUS_BOTH std::int64_t out_places(int images) const {
    return std::int64_t{images} * out_height * out_width;
  }
};

// The stem, then the first and the second convolution of each block.
struct GradientPlan {
  ResnetShape shape;
  std::vector<Convolution> convolutions;
  std::int64_t matrices;                      // entries of all matrices of weights
  std::int64_t readout_weight, readout_bias;  // among the parameters

  // A multiple of four channels, and at least one block.
  static bool serves(const ResnetShape& shape) {
    return shape.channels % 4 == 0 && shape.blocks > 0;
  }
  explicit GradientPlan(const ResnetShape& shape);

  const Convolution& stem() const { return convolutions[0]; }
  const Convolution& first(int block) const { return convolutions[at(1 + 2 * block)]; }
  const Convolution& second(int block) const { return convolutions[at(2 + 2 * block)]; }
  std::int64_t last_places(int images) const { return convolutions.back().out_places(images); }

 private:
  static std::size_t at(int k) { return static_cast<std::size_t>(k); }
};

inline GradientPlan::GradientPlan(const ResnetShape& s) : shape(s), matrices(0) {
  const std::vector<ParameterArray> arrays = parameter_arrays(s);
  auto next = arrays.begin();
  const auto take = [&] { return static_cast<std::int64_t>((next++)->begin); };
  int height = s.height, width = s.width;
  const auto add = [&](int in, bool swish, int stride) {
    Convolution c{};
    c.in = in, c.channels = s.channels, c.swish = swish, c.stride = stride;
    c.in_height = height, c.in_width = width;
    height = c.out_height = (height + stride - 1) / stride;
    width = c.out_width = (width + stride - 1) / stride;
    c.depth = (kTaps3x3 * in + 1 + 3) / 4 * 4;
    c.weight = take(), c.bias = take();
    convolutions.push_back(c);
  };
  add(1, false, 1);
  for (int k = 0; k < s.blocks; ++k) {
    const bool halves = k < s.halvings;
    add(s.channels, k > 0, halves ? 2 : 1);
    const std::size_t first = convolutions.size() - 1;
    add(s.channels, true, 1);
    if (!halves) continue;
    convolutions[first].shortcut = true;
    convolutions[first].shortcut_weight = take();
    convolutions[first].shortcut_bias = take();
  }
  readout_weight = take(), readout_bias = take();
  for (Convolution& c : convolutions) {
    c.matrix = matrices;
    matrices += c.matrix_size();
  }
}

}  // namespace saltus::cuda::resnet
