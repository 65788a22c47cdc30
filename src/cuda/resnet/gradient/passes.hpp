// The parts of a gradient that are no products, entry by entry, for host and device.
#pragma once

#include <cmath>
#include <cstdint>

#include "cuda/resnet/gradient/plan.hpp"

namespace saltus::cuda::resnet {

SALTUS_BOTH inline float swish(float z) {
  return z / (1 + expf(-z));
}

SALTUS_BOTH inline float swish_slope(float z) {
  const float s = 1 / (1 + expf(-z));
  return s * (1 + z * (1 - s));
}

// The place of the input under a tap of the kernel at place m of the output; -1 in the padding.
SALTUS_BOTH inline std::int64_t place_under(const Convolution& c, std::int64_t m, int tap) {
  const int size = c.out_height * c.out_width;
  const auto image = m / size;
  const int at = static_cast<int>(m - image * size);
  const int i = at / c.out_width * c.stride + tap / 3 - 1;
  const int j = at % c.out_width * c.stride + tap % 3 - 1;
  if (i < 0 || j < 0 || i >= c.in_height || j >= c.in_width) return -1;
  return (image * c.in_height + i) * c.in_width + j;
}

// The place of the output whose kernel has the tap on a place of the input; -1 if there is none.
SALTUS_BOTH inline std::int64_t place_above(const Convolution& c, std::int64_t place, int tap) {
  const int size = c.in_height * c.in_width;
  const auto image = place / size;
  const int at = static_cast<int>(place - image * size);
  const int i = at / c.in_width + 1 - tap / 3, j = at % c.in_width + 1 - tap % 3;
  if (i < 0 || j < 0 || i % c.stride != 0 || j % c.stride != 0) return -1;
  const int up = i / c.stride, left = j / c.stride;
  if (up >= c.out_height || left >= c.out_width) return -1;
  return (image * c.out_height + up) * c.out_width + left;
}

// Where row k, column o of a convolution's matrix lies among the parameters; -1: it is 0.
SALTUS_BOTH inline std::int64_t parameter_of(const Convolution& c, int k, int o) {
  const bool beside = o >= c.channels;
  if (beside) o -= c.channels;
  if (k == kTaps3x3 * c.in) return (beside ? c.shortcut_bias : c.bias) + o;
  if (k > kTaps3x3 * c.in) return -1;
  const int tap = k / c.in, channel = k % c.in;
  if (!beside) return c.weight + (std::int64_t{o} * c.in + channel) * kTaps3x3 + tap;
  return tap == kMiddleTap ? c.shortcut_weight + std::int64_t{o} * c.in + channel : -1;
}

// What the loss changes with f of a row, whose weight in the loss is given.
SALTUS_BOTH inline float slope_of_loss(float weight, float penalty, float f) {
  return weight + 2 * penalty * fabsf(weight) * f;
}

}  // namespace saltus::cuda::resnet
