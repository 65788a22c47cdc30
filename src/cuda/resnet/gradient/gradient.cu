#include "cuda/resnet/gradient/gradient.hpp"

#include <algorithm>
#include <string>

#include "cuda/resnet/gradient/passes.hpp"

namespace saltus::cuda {
namespace resnet {
namespace {

constexpr int kThreads = 256;
constexpr std::size_t kWorkspace = std::size_t{32} << 20;  // what cuBLAS wants on Hopper

unsigned blocks_for(std::int64_t n) {
  return static_cast<unsigned>((n + kThreads - 1) / kThreads);
}

__device__ std::int64_t this_thread() {
  return std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
}

__device__ const float4& four(const float* at) {
  return *reinterpret_cast<const float4*>(at);
}

__device__ float4& four(float* at) {
  return *reinterpret_cast<float4*>(at);
}

template <class F>
__device__ float4 each(float4 a, F f) {
  return {f(a.x), f(a.y), f(a.z), f(a.w)};
}

__device__ float4 operator+(float4 a, float4 b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w};
}

__device__ float4 operator*(float4 a, float4 b) {
  return {a.x * b.x, a.y * b.y, a.z * b.z, a.w * b.w};
}

// Entries k to k + 3 of row m: channels of one tap, or the one and zeros.
__global__ void gather_kernel(Convolution c, int images, const float* input, int stride,
                              float* patches) {
  const int fours = c.depth / 4;
  const std::int64_t n = this_thread(), m = n / fours;
  if (m >= c.out_places(images)) return;
  const int k = static_cast<int>(n - m * fours) * 4, tap = k / c.in;
  float4 v = {tap == kTaps3x3 && k == kTaps3x3 * c.in ? 1.0f : 0.0f, 0, 0, 0};
  if (tap < kTaps3x3) {
    const std::int64_t place = place_under(c, m, tap);
    if (place >= 0) {
      v = four(input + place * stride + (k - tap * c.in));
      if (c.swish) v = each(v, [](float z) { return swish(z); });
    }
  }
  four(patches + m * c.depth + k) = v;
}

// The same of one channel.
__global__ void gather_stem_kernel(Convolution c, int images, const float* pixels, float* patches) {
  const std::int64_t n = this_thread(), m = n / c.depth;
  if (m >= c.out_places(images)) return;
  const int k = static_cast<int>(n - m * c.depth);
  float v = k == kTaps3x3;
  if (k < kTaps3x3) {
    const std::int64_t place = place_under(c, m, k);
    v = place >= 0 ? pixels[place] : 0.0f;
  }
  patches[n] = v;
}

__global__ void activate_kernel(Convolution c, int images, Map from, Map to) {
  const int fours = c.in / 4;
  const std::int64_t n = this_thread(), place = n / fours;
  if (place >= c.in_places(images)) return;
  const int channel = static_cast<int>(n - place * fours) * 4;
  float4 v = four(from.data + place * from.stride + channel);
  if (c.swish) v = each(v, [](float z) { return swish(z); });
  four(to.data + place * to.stride + channel) = v;
}

// Four channels of a place of the input.
__global__ void scatter_kernel(Convolution c, int images, const float* patch_slopes, Map beside,
                               Map input, Map to) {
  const int fours = c.in / 4;
  const std::int64_t n = this_thread(), place = n / fours;
  if (place >= c.in_places(images)) return;
  const int channel = static_cast<int>(n - place * fours) * 4;
  float4 sum = {0, 0, 0, 0};
  if (beside.data) sum = four(beside.data + place * beside.stride + channel);
#pragma unroll
  for (int tap = 0; tap < kTaps3x3; ++tap) {
    const std::int64_t m = place_above(c, place, tap);
    if (m >= 0) sum = sum + four(patch_slopes + m * c.depth + tap * c.in + channel);
  }
  if (c.swish) {
    const float4 z = four(input.data + place * input.stride + channel);
    sum = sum * each(z, [](float v) { return swish_slope(v); });
  }
  four(to.data + place * to.stride + channel) = sum;
}

// All convolutions, one for each blockIdx.y.
__global__ void pack_kernel(const Convolution* convolutions, const float* parameters,
                            float* matrices) {
  const Convolution c = convolutions[blockIdx.y];
  const std::int64_t n = this_thread();
  if (n >= c.matrix_size()) return;
  const std::int64_t from =
      parameter_of(c, static_cast<int>(n / c.out()), static_cast<int>(n % c.out()));
  matrices[c.matrix + n] = from >= 0 ? parameters[from] : 0.0f;
}

__global__ void unpack_kernel(const Convolution* convolutions, const float* slopes,
                              float* gradient) {
  const Convolution c = convolutions[blockIdx.y];
  const std::int64_t n = this_thread();
  if (n >= c.matrix_size()) return;
  const std::int64_t to =
      parameter_of(c, static_cast<int>(n / c.out()), static_cast<int>(n % c.out()));
  if (to >= 0) gradient[to] = slopes[c.matrix + n];
}

// One block for each image: the means of the channels, and f.
__global__ void read_out_kernel(Map s, int places, int channels, const float* weight,
                                const float* bias, float* features, float* f) {
  const std::int64_t row = blockIdx.x;
  features += row * channels;
  for (int c = threadIdx.x; c < channels; c += kThreads) {
    float sum = 0;
    for (int p = 0; p < places; ++p) sum += swish(s.data[(row * places + p) * s.stride + c]);
    features[c] = sum / places;
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  float sum = *bias;
  for (int c = 0; c < channels; ++c) sum += weight[c] * features[c];
  f[row] = sum;
}

__global__ void start_back_kernel(Map s, int images, int places, int channels, const float* readout,
                                  const float* weights, float penalty, const float* f, Map slope) {
  const std::int64_t n = this_thread(), m = n / channels;
  if (m >= std::int64_t{images} * places) return;
  const int c = static_cast<int>(n - m * channels);
  const std::int64_t row = m / places;
  slope.data[m * slope.stride + c] = slope_of_loss(weights[row], penalty, f[row]) * readout[c] /
                                     places * swish_slope(s.data[m * s.stride + c]);
}

// Of the read-out's weights and, by the thread after the last of them, its bias.
__global__ void readout_gradient_kernel(const float* features, int images, int channels,
                                        const float* weights, float penalty, const float* f,
                                        float* gradient, float* bias_gradient) {
  const std::int64_t c = this_thread();
  if (c > channels) return;
  float sum = 0;
  for (int row = 0; row < images; ++row) {
    const float slope = slope_of_loss(weights[row], penalty, f[row]);
    sum += c < channels ? slope * features[std::int64_t{row} * channels + c] : slope;
  }
  *(c < channels ? gradient + c : bias_gradient) = sum;
}

void check_launch() {
  check(cudaGetLastError(), "launch of a kernel of the network's gradient");
}

void check_product(cublasStatus_t status, const char* call) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw ComputationError(std::string("the GPU failed: ") + call + ": " +
                         cublasGetStatusString(status));
}

}  // namespace
}  // namespace resnet

using namespace resnet;

class ResnetGradient::Machine final : public GradientMachine {
 public:
  Machine(const ResnetGradient& g, cudaStream_t stream, const Task& task)
      : g_(g), stream_(stream), task_(task), images_(g.arrays_.images) {}

  void pack() override {
    pack_kernel<<<all_matrices(), kThreads, 0, stream_>>>(g_.convolutions_.data(), task_.parameters,
                                                          g_.matrices_);
    check_launch();
  }
  void unpack() override {
    unpack_kernel<<<all_matrices(), kThreads, 0, stream_>>>(g_.convolutions_.data(),
                                                            g_.matrix_slopes_, task_.gradient);
    check_launch();
  }
  void gather(const Convolution& c, Map input, float* patches) override {
    if (c.in == 1) {
      gather_stem_kernel<<<blocks_for(c.out_places(images_) * c.depth), kThreads, 0, stream_>>>(
          c, images_, task_.pixels, patches);
    } else {
      gather_kernel<<<blocks_for(c.out_places(images_) * c.depth / 4), kThreads, 0, stream_>>>(
          c, images_, input.data, input.stride, patches);
    }
    check_launch();
  }
  void activate(const Convolution& c, Map from, Map to) override {
    activate_kernel<<<blocks_for(c.in_places(images_) * c.in / 4), kThreads, 0, stream_>>>(
        c, images_, from, to);
    check_launch();
  }
  void scatter(const Convolution& c, const float* patch_slopes, Map beside, Map input,
               Map to) override {
    scatter_kernel<<<blocks_for(c.in_places(images_) * c.in / 4), kThreads, 0, stream_>>>(
        c, images_, patch_slopes, beside, input, to);
    check_launch();
  }
  void read_out(Map s, Map slope) override {
    const GradientPlan& plan = g_.plan_;
    const int channels = plan.shape.channels;
    const auto places = static_cast<int>(plan.last_places(1));
    const float* readout = task_.parameters + plan.readout_weight;
    read_out_kernel<<<static_cast<unsigned>(images_), kThreads, 0, stream_>>>(
        s, places, channels, readout, task_.parameters + plan.readout_bias, g_.features_, task_.f);
    start_back_kernel<<<blocks_for(plan.last_places(images_) * channels), kThreads, 0, stream_>>>(
        s, images_, places, channels, readout, task_.weights, task_.penalty, task_.f, slope);
    readout_gradient_kernel<<<blocks_for(channels + 1), kThreads, 0, stream_>>>(
        g_.features_, images_, channels, task_.weights, task_.penalty, task_.f,
        task_.gradient + plan.readout_weight, task_.gradient + plan.readout_bias);
    check_launch();
  }

  // Matrices lie row after row, those of cuBLAS column after column: each is the other transposed.
  void convolve(const Convolution& c, const float* patches, Map to, bool add) override {
    multiply({CUBLAS_OP_N, c.out(), g_.matrices_ + c.matrix, c.out()},
             {CUBLAS_OP_N, places(c), patches, c.depth}, c.depth, to, add);
  }
  void slope_of_weights(const Convolution& c, const float* patches, Map slope) override {
    multiply({CUBLAS_OP_N, c.out(), slope.data, slope.stride},
             {CUBLAS_OP_T, c.depth, patches, c.depth}, places(c),
             {g_.matrix_slopes_ + c.matrix, c.out()}, false);
  }
  void slope_of_patches(const Convolution& c, Map slope, float* patch_slopes) override {
    multiply({CUBLAS_OP_T, c.depth, g_.matrices_ + c.matrix, c.out()},
             {CUBLAS_OP_N, places(c), slope.data, slope.stride}, c.out(), {patch_slopes, c.depth},
             false);
  }

 private:
  struct Factor {
    cublasOperation_t operation;
    int size;  // beside the inner one
    const float* data;
    int stride;
  };

  int places(const Convolution& c) const { return static_cast<int>(c.out_places(images_)); }

  dim3 all_matrices() const {
    std::int64_t largest = 0;
    for (const Convolution& c : g_.plan_.convolutions) largest = std::max(largest, c.matrix_size());
    return {blocks_for(largest), static_cast<unsigned>(g_.plan_.convolutions.size())};
  }

  void multiply(const Factor& a, const Factor& b, int inner, Map to, bool add) const {
    const float one = 1, kept = add ? 1 : 0;
    check_product(cublasGemmEx(g_.products_, a.operation, b.operation, a.size, b.size, inner, &one,
                               a.data, CUDA_R_32F, a.stride, b.data, CUDA_R_32F, b.stride, &kept,
                               to.data, CUDA_R_32F, to.stride, g_.precision_, CUBLAS_GEMM_DEFAULT),
                  "cublasGemmEx");
  }

  const ResnetGradient& g_;
  cudaStream_t stream_;
  const Task& task_;
  int images_;
};

ResnetGradient::ResnetGradient(const ResnetShape& shape, int images, bool tf32)
    : plan_(shape),
      convolutions_(std::span<const Convolution>(plan_.convolutions)),
      workspace_(kWorkspace),
      precision_(tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F) {
  arrays_.images = images;
  take_memory();
  check_product(cublasCreate(&products_), "cublasCreate");
}

ResnetGradient::~ResnetGradient() {
  if (products_) cublasDestroy(products_);
}

void ResnetGradient::take_memory() {
  const int images = arrays_.images, channels = plan_.shape.channels;
  const auto take = [&](std::int64_t entries) {
    return memory_.emplace_back(static_cast<std::size_t>(entries)).data();
  };
  const auto map = [&](std::int64_t places, int width) { return Map{take(places * width), width}; };
  arrays_.stem = map(plan_.stem().out_places(images), channels);
  arrays_.stem_slope = map(plan_.stem().out_places(images), channels);
  for (int k = 0; k < plan_.shape.blocks; ++k) {
    const std::int64_t places = plan_.first(k).out_places(images);
    arrays_.z_and_s.push_back(map(places, 2 * channels));
    arrays_.slopes.push_back(map(places, 2 * channels));
  }
  std::int64_t largest = 0;
  for (const Convolution& c : plan_.convolutions) {
    const std::int64_t entries = c.out_places(images) * c.depth;
    arrays_.patches.push_back(take(entries));
    if (c.in > 1) largest = std::max(largest, entries);
  }
  arrays_.patch_slopes = take(largest);
  matrices_ = take(plan_.matrices), matrix_slopes_ = take(plan_.matrices);
  features_ = take(std::int64_t{images} * channels);
}

void ResnetGradient::enqueue(cudaStream_t stream, const Task& task) {
  check_product(cublasSetStream(products_, stream), "cublasSetStream");
  check_product(cublasSetWorkspace(products_, workspace_.data(), workspace_.size()),
                "cublasSetWorkspace");
  Machine machine(*this, stream, task);
  differentiate(machine, plan_, arrays_);
}

}  // namespace saltus::cuda
