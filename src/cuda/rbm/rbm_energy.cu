#include <algorithm>
#include <vector>

#include "cuda/rbm/rbm_energy.hpp"
#include "saltus/cuda/check.hpp"

namespace saltus::cuda {
namespace {

// A block of threads computes kRows x kCols entries of a product; its warps share the inner
// dimension among them, and their sums are added in order. So there are enough blocks for all
// multiprocessors at a hundred chains, and no sum depends on the run.
constexpr int kWarp = 32, kWarps = 16, kThreads = kWarp * kWarps;
constexpr int kRows = 16, kCols = kWarp;
constexpr int kChunk = kThreads;         // of the inner dimension, held in shared memory at a time
constexpr int kGroup = 8;                // loads of weights under way in a thread
constexpr int kInner = kWarps * kGroup;  // the inner dimension is padded to a multiple
static_assert(kChunk % kInner == 0 && kWarps == kRows);

constexpr int up_to_multiple(int n, int of) {
  return (n + of - 1) / of * of;
}

__device__ double warp_sum(double v) {
  for (int d = kWarp / 2; d > 0; d /= 2) v += __shfl_xor_sync(~0u, v, d);
  return v;
}

union Memory {
  float4 input[kRows / 4][kChunk];  // four rows side by side
  float sums[kWarps][kRows][kCols];
};
static_assert(sizeof(Memory) <= 48 * 1024);

// sum_k in[row][k] weights[k][col]. Thread (warp w, lane l) returns entry (w, l) of the block.
// `weights` has rows of `stride` entries, zeros beyond the ends.
__device__ float product(const float* in, int rows, int inner, const float* weights, int stride,
                         Memory& memory) {
  const int lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  const int first_row = blockIdx.y * kRows;
  const float* column = weights + blockIdx.x * kCols + lane;
  float sum[kRows] = {};
  for (int begin = 0; begin < inner; begin += kChunk) {
    const int k = begin + threadIdx.x;
    __syncthreads();
#pragma unroll
    for (int q = 0; q < kRows / 4; ++q) {
      float v[4];
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const int row = first_row + 4 * q + j;
        v[j] = row < rows && k < inner ? in[static_cast<std::size_t>(row) * inner + k] : 0.0f;
      }
      memory.input[q][threadIdx.x] = make_float4(v[0], v[1], v[2], v[3]);
    }
    __syncthreads();
    const int left = inner - begin < kChunk ? inner - begin : kChunk;
    for (int group = 0; group < left; group += kInner) {
      float w[kGroup];
#pragma unroll
      for (int g = 0; g < kGroup; ++g) {
        w[g] = column[static_cast<std::size_t>(begin + group + g * kWarps + warp) * stride];
      }
#pragma unroll
      for (int g = 0; g < kGroup; ++g) {
#pragma unroll
        for (int q = 0; q < kRows / 4; ++q) {
          const float4 v = memory.input[q][group + g * kWarps + warp];
          sum[4 * q] += v.x * w[g];
          sum[4 * q + 1] += v.y * w[g];
          sum[4 * q + 2] += v.z * w[g];
          sum[4 * q + 3] += v.w * w[g];
        }
      }
    }
  }
  __syncthreads();
#pragma unroll
  for (int r = 0; r < kRows; ++r) memory.sums[warp][r][lane] = sum[r];
  __syncthreads();
  float total = 0;
#pragma unroll
  for (int w = 0; w < kWarps; ++w) total += memory.sums[w][warp][lane];
  return total;
}

// Activations of the hidden units and, in parts, log p: block column j contributes the softplus of
// its units and its share of b'x.
__global__ void __launch_bounds__(kThreads)
    hidden_kernel(const float* x, int rows, int visible, int hidden, const float* weights,
                  int stride, const float* bias, const double* visible_bias, float* activations,
                  double* parts) {
  __shared__ Memory memory;
  const float sum = product(x, rows, visible, weights, stride, memory);
  const int lane = threadIdx.x % kWarp, row = blockIdx.y * kRows + threadIdx.x / kWarp;
  if (row >= rows) return;
  const int h = blockIdx.x * kCols + lane;
  double softplus = 0;
  if (h < hidden) {
    const double z = static_cast<double>(sum + bias[h]);
    const double e = exp(-fabs(z));
    softplus = (z > 0 ? z : 0.0) + log1p(e);
    if (activations) {
      activations[static_cast<std::size_t>(row) * hidden + h] =
          static_cast<float>((z >= 0 ? 1.0 : e) / (1 + e));
    }
  }
  if (!parts) return;
  const int share = (visible + gridDim.x - 1) / gridDim.x;
  const int begin = blockIdx.x * share, end = begin + share < visible ? begin + share : visible;
  for (int i = begin + lane; i < end; i += kWarp) {
    softplus +=
        visible_bias[i] * static_cast<double>(x[static_cast<std::size_t>(row) * visible + i]);
  }
  softplus = warp_sum(softplus);
  if (lane == 0) parts[static_cast<std::size_t>(row) * gridDim.x + blockIdx.x] = softplus;
}

// By one warp.
__device__ void add_parts(const double* parts, int count, int row, double* logp) {
  const int lane = threadIdx.x % kWarp;
  double sum = 0;
  for (int j = lane; j < count; j += kWarp) sum += parts[static_cast<std::size_t>(row) * count + j];
  sum = warp_sum(sum);
  if (lane == 0) logp[row] = sum;
}

__global__ void __launch_bounds__(kThreads)
    score_kernel(const float* activations, int rows, int visible, int hidden, const float* weights,
                 int stride, const float* bias, float* score, const double* parts, int part_count,
                 double* logp) {
  __shared__ Memory memory;
  const float sum = product(activations, rows, hidden, weights, stride, memory);
  const int row = blockIdx.y * kRows + threadIdx.x / kWarp;
  if (row >= rows) return;
  const int i = blockIdx.x * kCols + threadIdx.x % kWarp;
  if (i < visible) score[static_cast<std::size_t>(row) * visible + i] = sum + bias[i];
  if (logp && blockIdx.x == 0) add_parts(parts, part_count, row, logp);
}

__global__ void logp_kernel(int rows, const double* parts, int part_count, double* logp) {
  const int row = blockIdx.x * (blockDim.x / kWarp) + threadIdx.x / kWarp;
  if (row < rows) add_parts(parts, part_count, row, logp);
}

unsigned blocks_for(int n, int each) {
  return static_cast<unsigned>((n + each - 1) / each);
}

std::vector<float> single(std::span<const double> values) {
  return {values.begin(), values.end()};
}

// Row k of the result holds weights[k * down + c * across] for column c, with zeros up to the
// padding.
std::vector<float> padded_matrix(std::span<const double> weights, int rows, int cols,
                                 std::size_t down, std::size_t across) {
  const auto stride = static_cast<std::size_t>(up_to_multiple(cols, kCols));
  std::vector<float> out(static_cast<std::size_t>(up_to_multiple(rows, kInner)) * stride);
  for (std::size_t k = 0; k < static_cast<std::size_t>(rows); ++k) {
    for (std::size_t c = 0; c < static_cast<std::size_t>(cols); ++c) {
      out[k * stride + c] = static_cast<float>(weights[k * down + c * across]);
    }
  }
  return out;
}

}  // namespace

RbmEnergy::RbmEnergy(const RbmModel& m)
    : visible_(static_cast<int>(m.visible_bias.size())),
      hidden_(static_cast<int>(m.hidden_bias.size())),
      by_visible_(padded_matrix(m.weights, visible_, hidden_, 1, m.visible_bias.size())),
      by_hidden_(padded_matrix(m.weights, hidden_, visible_, m.visible_bias.size(), 1)),
      visible_bias_(single(m.visible_bias)),
      hidden_bias_(single(m.hidden_bias)),
      visible_bias_exact_(m.visible_bias) {
  // Loading a kernel must not happen while a graph is captured.
  cudaFuncAttributes ignored;
  check(cudaFuncGetAttributes(&ignored, hidden_kernel), "cudaFuncGetAttributes");
  check(cudaFuncGetAttributes(&ignored, score_kernel), "cudaFuncGetAttributes");
  check(cudaFuncGetAttributes(&ignored, logp_kernel), "cudaFuncGetAttributes");
}

void RbmEnergy::prepare(int rows) {
  const auto n = static_cast<std::size_t>(rows);
  activations_.grow(n * static_cast<std::size_t>(hidden_));
  parts_.grow(n * blocks_for(hidden_, kCols));
}

void RbmEnergy::evaluate(cudaStream_t stream, const float* values, int rows, double* logp,
                         float* score) {
  const unsigned row_blocks = blocks_for(rows, kRows), parts = blocks_for(hidden_, kCols);
  hidden_kernel<<<dim3(parts, row_blocks), kThreads, 0, stream>>>(
      values, rows, visible_, hidden_, by_visible_.data(), up_to_multiple(hidden_, kCols),
      hidden_bias_.data(), visible_bias_exact_.data(), score ? activations_.data() : nullptr,
      logp ? parts_.data() : nullptr);
  check(cudaGetLastError(), "launch of the hidden units' kernel");
  if (score) {
    score_kernel<<<dim3(blocks_for(visible_, kCols), row_blocks), kThreads, 0, stream>>>(
        activations_.data(), rows, visible_, hidden_, by_hidden_.data(),
        up_to_multiple(visible_, kCols), visible_bias_.data(), score, parts_.data(),
        static_cast<int>(parts), logp);
    check(cudaGetLastError(), "launch of the score's kernel");
  } else if (logp) {
    logp_kernel<<<blocks_for(rows, 8), 8 * kWarp, 0, stream>>>(rows, parts_.data(),
                                                               static_cast<int>(parts), logp);
    check(cudaGetLastError(), "launch of the kernel of log p");
  }
}

}  // namespace saltus::cuda
