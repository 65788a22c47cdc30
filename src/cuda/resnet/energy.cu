#include "cuda/resnet/energy.hpp"

#include <cmath>

#include "cuda/resnet/layout.hpp"

// ---- Parameters into the weight blocks of the fused kernel

namespace saltus::cuda::resnet {
namespace {

constexpr int kThreads = 256, kEntries = kBlockBytes / 2;
constexpr int kConvolution = kChannels * kChannels * kTaps, kPoint = kChannels * kChannels;

// Where arrays lie among the parameters: stem, blocks (first, second, shortcut where there is one),
// read-out; each array followed by its biases.
struct Parameters {
  const float* all;

  __device__ const float* stem() const { return all; }
  __device__ const float* stem_bias() const { return all + kChannels * kTaps; }
  __device__ const float* block(int k) const {
    const int halvings = min(k, 2);
    return stem_bias() + kChannels + k * 2 * (kConvolution + kChannels) +
           halvings * (kPoint + kChannels);
  }
  __device__ const float* first(int k) const { return block(k); }
  __device__ const float* first_bias(int k) const { return block(k) + kConvolution; }
  __device__ const float* second(int k) const { return first_bias(k) + kChannels; }
  __device__ const float* second_bias(int k) const { return second(k) + kConvolution; }
  __device__ const float* shortcut(int k) const { return second_bias(k) + kChannels; }
  __device__ const float* shortcut_bias(int k) const { return shortcut(k) + kPoint; }
  __device__ const float* readout() const { return block(kBlocks); }

  // The first block's first convolution after the stem: tap (u, v) after tap (r, t), and tap (u, v)
  // after the stem's bias.
  __device__ float composed(int c, int u, int v, int r, int t) const {
    return product(first(0) + c * kChannels * kTaps + 3 * u + v, kTaps, stem() + 3 * r + t, kTaps);
  }
  __device__ float composed_bias(int c, int u, int v) const {
    return product(first(0) + c * kChannels * kTaps + 3 * u + v, kTaps, stem_bias(), 1);
  }
  // The sum over channels of entries that lie so far apart.
  static __device__ float product(const float* a, int a_step, const float* b, int b_step) {
    float sum = 0;
    for (int k = 0; k < kChannels; ++k) sum += a[k * a_step] * b[k * b_step];
    return sum;
  }
};

__device__ bool is_tap(int k) {
  return k >= 0 && k <= 2;
}

// What entry `at` of the patch (see patch_entry in kernel.cu) contributes to channel c of
// the first block's first convolution. The border's entries take out again what the stem's padding
// would have contributed.
__device__ float patch_weight(const Parameters& p, int c, int at) {
  float sum = 0;
  if (at < 25) {
    const int m = at / 5, n = at % 5;
    for (int u = 0; u < 3; ++u) {
      for (int v = 0; v < 3; ++v) {
        if (is_tap(m - u) && is_tap(n - v)) sum += p.composed(c, u, v, m - u, n - v);
      }
    }
  } else if (at >= kTop && at < kTopOne) {
    for (int v = 0; v < 3; ++v) {
      if (is_tap(at - kTop - v)) sum -= p.composed(c, 0, v, 2, at - kTop - v);
    }
  } else if (at == kTopOne) {
    for (int v = 0; v < 3; ++v) sum -= p.composed_bias(c, 0, v);
  } else if (at >= kLeft && at < kLeftOne) {
    for (int u = 0; u < 3; ++u) {
      if (is_tap(at - kLeft - u)) sum -= p.composed(c, u, 0, at - kLeft - u, 2);
    }
  } else if (at == kLeftOne) {
    for (int u = 0; u < 3; ++u) sum -= p.composed_bias(c, u, 0);
  } else if (at == kCorner) {
    sum = p.composed(c, 0, 0, 2, 2);
  } else if (at == kCornerOne) {
    sum = p.composed_bias(c, 0, 0);
  }
  return sum;
}

// The same for the shortcut, which sees the inner 3 x 3 pixels.
__device__ float patch_shortcut_weight(const Parameters& p, int c, int at) {
  const int r = at / 5 - 1, t = at % 5 - 1;
  if (at >= 25 || !is_tap(r) || !is_tap(t)) return 0;
  return Parameters::product(p.shortcut(0) + c * kChannels, 1, p.stem() + 3 * r + t, kTaps);
}

__device__ float convolution(const float* weights, int out, int in, int tap) {
  return weights[(out * kChannels + in) * kTaps + tap];
}

// Entry (n, k) of a block.
__device__ float entry(const Parameters& p, int block, int n, int k) {
  using O = Order;
  constexpr int pair = 2 * kTaps;
  if (block == O::patch_first) return patch_weight(p, n, k);
  if (block == O::patch_shortcut) return patch_shortcut_weight(p, n, k);
  if (block < O::first1) return convolution(p.second(0), n, k, block - O::second0);
  if (block < O::shortcut1) return convolution(p.first(1), n, k, block - O::first1);
  if (block == O::shortcut1) return p.shortcut(1)[n * kChannels + k];
  if (block < O::tail) return convolution(p.second(1), n, k, block - O::second1);
  if (block < O::forward_end) {
    const int at = block - O::tail, b = 2 + at / pair, tap = at % pair;
    return tap < kTaps ? convolution(p.first(b), n, k, tap)
                       : convolution(p.second(b), n, k, tap - kTaps);
  }
  // The way back: input and output change places, and taps are turned round.
  if (block < O::back_second1) {
    const int at = block - O::back_tail, b = kBlocks - 1 - at / pair, tap = at % pair;
    return tap < kTaps ? convolution(p.second(b), k, n, kTaps - 1 - tap)
                       : convolution(p.first(b), k, n, 2 * kTaps - 1 - tap);
  }
  if (block < O::back_first1) {
    return convolution(p.second(1), k, n, kTaps - 1 - (block - O::back_second1));
  }
  if (block < O::back_shortcut1) {
    constexpr int taps[kTaps] = {4, 3, 5, 1, 7, 0, 2, 6, 8};  // 3 row + column of kBackTaps
    return convolution(p.first(1), k, n, taps[block - O::back_first1]);
  }
  if (block == O::back_shortcut1) return p.shortcut(1)[k * kChannels + n];
  if (block < O::back_patch_shortcut) {
    return convolution(p.second(0), k, n, kTaps - 1 - (block - O::back_second0));
  }
  if (block == O::back_patch_shortcut) return patch_shortcut_weight(p, k, n);
  return patch_weight(p, k, n);
}

__global__ void pack_weights(Parameters p, __half* weights) {
  const int block = static_cast<int>(blockIdx.x);
  const int e = static_cast<int>(blockIdx.y * kThreads + threadIdx.x);
  const bool narrow = block == Order::back_patch_shortcut || block == Order::back_patch_first;
  const int rows = narrow ? kPatch : kChannels;
  const int k = e / (8 * rows) * 8 + e % 8, n = e / 8 % rows;
  const int entries =
      block == Order::patch_first || block == Order::patch_shortcut ? kPatch : kChannels;
  const float value = k < entries ? entry(p, block, n, k) : 0;
  weights[static_cast<std::size_t>(block) * kEntries + e] = __float2half_rn(value);
}

__global__ void pack_bias(Parameters p, float* bias) {
  const int c = static_cast<int>(threadIdx.x), row = static_cast<int>(blockIdx.x);
  if (row == Bias::readout) {
    bias[row * kChannels + c] = p.readout()[c];
    if (c == 0) bias[Bias::rows * kChannels] = p.readout()[kChannels];
    return;
  }
  float value = 0;
  if (row % 2 == 0) {
    value = p.first_bias(row / 2)[c];
    for (int t = 0; row == 0 && t < kTaps; ++t) value += p.composed_bias(c, t / 3, t % 3);
  } else {
    value = p.second_bias(row / 2)[c];
    if (row / 2 < 2) value += p.shortcut_bias(row / 2)[c];
    if (row == 1) value += p.product(p.shortcut(0) + c * kChannels, 1, p.stem_bias(), 1);
  }
  bias[row * kChannels + c] = kActivationScale * value;
}

}  // namespace
}  // namespace saltus::cuda::resnet

namespace saltus::cuda {

bool FusedResnet::serves(const ResnetShape& shape) {
#ifdef SALTUS_HOPPER
  int device = 0, major = 0;
  return shape == ResnetShape{} && cudaGetDevice(&device) == cudaSuccess &&
         cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) == cudaSuccess &&
         major == 9;
#else
  return false;
#endif
}

FusedResnet::FusedResnet(const ResnetEnergy& energy)
    : weights_(std::size_t{resnet::Order::end} * resnet::kBlockBytes), bias_(resnet::Bias::count) {
  std::vector<float> logit;
  for (const double m : energy.base_mean) {
    logit.push_back(static_cast<float>(std::log(m) - std::log1p(-m)));
    base_constant_ += std::log1p(-m);
  }
  base_logit_ = DeviceArray<float>(std::span<const float>(logit));
  const DeviceArray<float> parameters{std::span<const float>(energy.parameters)};
  load(parameters.data());
}

void FusedResnet::load(const float* parameters) {
  using namespace resnet;
  pack_weights<<<dim3(Order::end, kEntries / kThreads), kThreads>>>(
      {parameters}, reinterpret_cast<__half*>(weights_.data()));
  pack_bias<<<Bias::rows, kChannels>>>({parameters}, bias_.data());
  check(cudaGetLastError(), "packing the residual network");
  settle_default_stream();
}

void FusedResnet::prepare(int rows) {
  scratch_.grow(static_cast<std::size_t>(rows) * resnet::scratch_bytes_per_row());
}

void FusedResnet::evaluate(cudaStream_t stream, const float* values, int rows, double* logp,
                           float* score) {
  const resnet::Arguments arguments{.weights = weights_.data(),
                                    .bias = bias_.data(),
                                    .base_logit = base_logit_.data(),
                                    .base_constant = base_constant_,
                                    .values = values,
                                    .rows = rows,
                                    .logp = logp,
                                    .score = score,
                                    .scratch = reinterpret_cast<uint4*>(scratch_.data())};
  check(resnet::launch(arguments, stream), "the residual network");
}

}  // namespace saltus::cuda
