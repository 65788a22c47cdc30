#include <algorithm>
#include <bit>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "cuda/binary_network/energy.hpp"
#include "saltus/core/error.hpp"
#include "saltus/core/philox.hpp"

namespace saltus::cuda {
namespace {

constexpr int kBlockRows = 32;                  // data rows of a block of threads
constexpr int kUnitsOfWarp = 4 * kWarp;         // four to a lane, and as many again
constexpr int kMostUnits = 8;                   // times kUnitsOfWarp
constexpr std::size_t kChunkBytes = 24u << 20;  // about half of the cache
constexpr std::size_t kWorkspace = 32u << 20;
constexpr int kMostRowsToDraw = 40 * 1024 * 8;  // a bit for each in shared memory

int up_to_multiple(int n, int of) {
  return (n + of - 1) / of * of;
}

unsigned blocks(std::size_t n) {
  return static_cast<unsigned>((n + kThreads - 1) / kThreads);
}

void check(cublasStatus_t status, const char* call) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw std::runtime_error(std::string(call) + ": " + cublasGetStatusString(status));
}
using saltus::cuda::check;

void check_launch() {
  check(cudaGetLastError(), "kernel launch");
}

// The nearest number with eleven significant bits: what TF32 keeps.
float eleven_bits(float v) {
  const auto bits = std::bit_cast<std::uint32_t>(v);
  return std::bit_cast<float>((bits + 0x0FFFu + (bits >> 13 & 1u)) & ~0x1FFFu);
}

// ---- Mini-batches

// draw_batch of saltus/target/mini_batch.hpp: rows j = N - B, ..., N - 1 in turn give t or, when it
// is taken, j. One block; a bit of shared memory for each row of data.
__global__ void draw_rows(const std::uint64_t* seed, const std::uint64_t* step,
                          std::uint64_t offset, std::uint32_t rows, std::uint32_t batch,
                          std::uint32_t* drawn) {
  extern __shared__ std::uint32_t taken[];
  __shared__ std::uint32_t counts[kThreads + 1];
  const Stream stream{*seed, kAllChains, *step + offset, Purpose::batch};
  const std::uint32_t words = (rows + 31) / 32, first = rows - batch;
  for (std::uint32_t w = threadIdx.x; w < words; w += kThreads) taken[w] = 0;
  for (std::uint32_t k = threadIdx.x; k < batch; k += kThreads) {
    const std::uint32_t j = first + k;
    drawn[k] = static_cast<std::uint32_t>(stream.uniform(j) * (static_cast<double>(j) + 1));
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    for (std::uint32_t k = 0; k < batch; ++k) {
      std::uint32_t t = drawn[k];
      if (taken[t / 32] >> t % 32 & 1u) t = first + k;
      taken[t / 32] |= 1u << t % 32;
    }
  }
  __syncthreads();
  // In increasing order: each thread has a piece of the rows.
  const std::uint32_t share = (words + kThreads - 1) / kThreads;
  const std::uint32_t begin = min(threadIdx.x * share, words), end = min(begin + share, words);
  std::uint32_t count = 0;
  for (std::uint32_t w = begin; w < end; ++w) count += static_cast<std::uint32_t>(__popc(taken[w]));
  counts[threadIdx.x + 1] = count;
  __syncthreads();
  if (threadIdx.x == 0) {
    counts[0] = 0;
    for (int k = 1; k <= kThreads; ++k) counts[k] += counts[k - 1];
  }
  __syncthreads();
  std::uint32_t at = counts[threadIdx.x];
  for (std::uint32_t w = begin; w < end; ++w) {
    for (std::uint32_t bits = taken[w]; bits != 0; bits &= bits - 1) {
      drawn[at++] = 32 * w + static_cast<std::uint32_t>(__ffs(static_cast<int>(bits)) - 1);
    }
  }
}

__global__ void gather_rows(const std::uint32_t* drawn, int width, const float* data,
                            const float* y, float* batch, float* batch_y) {
  const std::size_t from = drawn[blockIdx.x], to = blockIdx.x;
  for (int k = static_cast<int>(threadIdx.x); k < width; k += kThreads) {
    batch[to * width + k] = data[from * width + k];
  }
  if (threadIdx.x == 0) batch_y[to] = y[from];
}

// ---- Weights

struct Layout {
  int networks, features, hidden, stride, depth, dim;
};

// Values 0 and 1 to weights -1 and +1, twice (for both parts of the data); zeros in the padding.
__global__ void spread_weights(Layout l, const float* values, float* weights, float* second) {
  const std::size_t units = static_cast<std::size_t>(l.networks) * l.stride;
  const std::size_t i = blockIdx.x * static_cast<std::size_t>(kThreads) + threadIdx.x;
  if (i >= units) return;
  const int k = static_cast<int>(blockIdx.y), h = static_cast<int>(i % l.stride);
  const float* row = values + i / l.stride * l.dim;
  const bool there = h < l.hidden;
  const float w = there && k <= l.features ? 2 * row[k * l.hidden + h] - 1 : 0.0f;
  weights[k * units + i] = weights[(l.depth + k) * units + i] = w;
  if (k == 0) second[i] = there ? 2 * row[(l.features + 1) * l.hidden + h] - 1 : 0.0f;
}

// ---- Units

struct UnitsArgs {
  Layout layout;
  int rows, first_block;  // data rows of the chunk; blocks of data rows before it
  float factor;           // of the slope by the logit
  const float *values, *second, *y;
  float* units;
  float* second_parts;
  double* parts;
  float* predictions;  // of the chunk's first row; null: not wanted
  int all_rows;        // of data
};

__device__ float warp_sum(float v) {
  for (int d = kWarp / 2; d > 0; d /= 2) v += __shfl_xor_sync(~0u, v, d);
  return v;
}

__device__ float4 tanh_of_each(float4 a) {
  return make_float4(tanh_of(a.x), tanh_of(a.y), tanh_of(a.z), tanh_of(a.w));
}

__device__ float dot(float4 a, float4 b) {
  return a.x * b.x + a.y * b.y + (a.z * b.z + a.w * b.w);
}

__device__ void add(float4& to, float factor, float4 v) {
  to.x += factor * v.x, to.y += factor * v.y, to.z += factor * v.z, to.w += factor * v.w;
}

__device__ float4 unit_slopes(float slope, float4 w, float4 t) {
  return make_float4(slope * w.x * (1 - t.x * t.x), slope * w.y * (1 - t.y * t.y),
                     slope * w.z * (1 - t.z * t.z), slope * w.w * (1 - t.w * t.w));
}

// A block has kBlockRows rows of data and one network, a warp one row at a time: from the units'
// pre-activations the logit, its part of log p and, in place, the slopes by the pre-activations.
template <int kPieces, bool kScore>
__global__ void __launch_bounds__(kThreads) pass_units(UnitsArgs p) {
  __shared__ float4 second_sums[kScore ? kWarps : 1][kPieces * kWarp];
  __shared__ double sums[kWarps][2];
  const Layout& l = p.layout;
  const int warp = static_cast<int>(threadIdx.x) / kWarp, lane = threadIdx.x % kWarp;
  const int network = static_cast<int>(blockIdx.y),
            begin = static_cast<int>(blockIdx.x) * kBlockRows;
  const int end = min(begin + kBlockRows, p.rows);
  const std::size_t units = static_cast<std::size_t>(l.networks) * l.stride;
  const auto* w2 = reinterpret_cast<const float4*>(p.second + network * l.stride) + lane;
  const float bias = 2 * p.values[static_cast<std::size_t>(network + 1) * l.dim - 1] - 1;
  float4 weight[kPieces], second[kPieces];
#pragma unroll
  for (int j = 0; j < kPieces; ++j) {
    weight[j] = w2[j * kWarp];
    second[j] = make_float4(0, 0, 0, 0);
  }
  double squares = 0, slopes = 0;
  for (int r = begin + warp; r < end; r += kWarps) {
    auto* row = reinterpret_cast<float4*>(p.units + r * units + network * l.stride) + lane;
    float4 t[kPieces];
    float sum = 0;
#pragma unroll
    for (int j = 0; j < kPieces; ++j) {
      t[j] = tanh_of_each(row[j * kWarp]);
      sum += dot(weight[j], t[j]);
    }
    const float logit = warp_sum(sum) + bias;
    const float e = expf(-fabsf(logit)), scale = 1 / (1 + e);
    const float f = (logit >= 0 ? 1 : e) * scale, miss = f - p.y[r];
    squares += static_cast<double>(miss) * miss;
    if (p.predictions && lane == 0) {
      p.predictions[static_cast<std::size_t>(network) * p.all_rows + r] = f;
    }
    if constexpr (kScore) {
      const float slope = p.factor * miss * e * scale * scale;
      slopes += slope;
#pragma unroll
      for (int j = 0; j < kPieces; ++j) {
        add(second[j], slope, t[j]);
        row[j * kWarp] = unit_slopes(slope, weight[j], t[j]);
      }
    }
  }
  if (lane == 0) sums[warp][0] = squares, sums[warp][1] = slopes;
  if constexpr (kScore) {
#pragma unroll
    for (int j = 0; j < kPieces; ++j) second_sums[warp][j * kWarp + lane] = second[j];
  }
  __syncthreads();
  const std::size_t block = p.first_block + static_cast<int>(blockIdx.x);
  if (threadIdx.x < 2) {
    double total = 0;
    for (int w = 0; w < kWarps; ++w) total += sums[w][threadIdx.x];
    p.parts[(block * l.networks + network) * 2 + threadIdx.x] = total;
  }
  if constexpr (kScore) {
    auto* to = reinterpret_cast<float4*>(p.second_parts + block * units + network * l.stride);
    for (int i = static_cast<int>(threadIdx.x); i < kPieces * kWarp; i += kThreads) {
      float4 total = second_sums[0][i];
#pragma unroll
      for (int w = 1; w < kWarps; ++w) add(total, 1, second_sums[w][i]);
      to[i] = total;
    }
  }
}

// pass_units for 1, ..., kMostUnits pieces.
using PassUnits = void (*)(UnitsArgs);
template <bool kScore, int... n>
PassUnits pass_of(int pieces, std::integer_sequence<int, n...>) {
  constexpr PassUnits passes[] = {pass_units<n + 1, kScore>...};
  return passes[pieces - 1];
}

void launch_units(cudaStream_t stream, dim3 grid, const UnitsArgs& args, bool score) {
  constexpr std::make_integer_sequence<int, kMostUnits> all;
  const int pieces = args.layout.stride / kUnitsOfWarp;
  const PassUnits pass = score ? pass_of<true>(pieces, all) : pass_of<false>(pieces, all);
  pass<<<grid, kThreads, 0, stream>>>(args);
  check_launch();
}

// ---- Results

// The score by W1 and b1, from (depth, networks, stride), and by w2, from its parts.
__global__ void write_score(Layout l, const float* gradient, const float* second_parts, int parts,
                            float* score) {
  const int i = static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x);
  const int network = static_cast<int>(blockIdx.y);
  if (i >= (l.features + 2) * l.hidden) return;
  const int k = i / l.hidden, h = i % l.hidden;
  const std::size_t units = static_cast<std::size_t>(l.networks) * l.stride;
  const std::size_t unit = static_cast<std::size_t>(network) * l.stride + h;
  double value = 0;
  if (k <= l.features) {
    value = gradient[k * units + unit];
  } else {
#pragma unroll 8
    for (int b = 0; b < parts; ++b) value += second_parts[b * units + unit];
  }
  score[static_cast<std::size_t>(network) * l.dim + i] = static_cast<float>(value);
}

// log p and the score by b2 of one network, by one block.
__global__ void write_sums(Layout l, const double* parts, int count, double scale, double* logp,
                           float* score) {
  __shared__ double sums[2][kThreads];
  const int network = static_cast<int>(blockIdx.x), t = static_cast<int>(threadIdx.x);
  double own[2] = {0, 0};
  for (int b = t; b < count; b += kThreads) {
    const double* part = parts + (static_cast<std::size_t>(b) * l.networks + network) * 2;
    own[0] += part[0], own[1] += part[1];
  }
  sums[0][t] = own[0], sums[1][t] = own[1];
  for (int half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (t < half) sums[0][t] += sums[0][t + half], sums[1][t] += sums[1][t + half];
  }
  if (t != 0) return;
  if (logp) logp[network] = scale * sums[0][0];
  if (score)
    score[static_cast<std::size_t>(network + 1) * l.dim - 1] = static_cast<float>(sums[1][0]);
}

}  // namespace

BinaryNetworkEnergy::BinaryNetworkEnergy(const RegressionRows& rows,
                                         const BinaryNetworkOptions& options, Way way)
    : options_(options),
      shape_{rows.features, options.hidden},
      rows_(rows.rows()),
      stride_(up_to_multiple(options.hidden, kUnitsOfWarp)),
      depth_(up_to_multiple(rows.features + 1, 8)) {
  if (stride_ > kMostUnits * kUnitsOfWarp) {
    throw UsageError("on the GPU a network can have " + std::to_string(kMostUnits * kUnitsOfWarp) +
                     " hidden units at most");
  }
  if (stochastic() && rows_ > kMostRowsToDraw) {
    throw UsageError("mini-batches on the GPU need fewer rows of data");
  }
  if (way == Way::fused && !stochastic()) fused_ = FusedNetwork::make(rows, options);
  if (fused_) return;
  // The bias is the weight of one more feature, which is 1.
  std::vector<float> data(size(rows_) * size(2 * depth_));
  for (int r = 0; r < rows_; ++r) {
    float* to = data.data() + size(r) * size(2 * depth_);
    for (int f = 0; f < rows.features; ++f) {
      const float z = rows.x[size(r) * size(rows.features) + size(f)];
      to[f] = eleven_bits(z);
      to[depth_ + f] = z - to[f];
    }
    to[rows.features] = 1;
  }
  data_ = DeviceArray<float>(std::span<const float>(data));
  y_ = DeviceArray<float>(std::span<const float>(rows.y));
  nowhere_.grow(2);
  if (stochastic()) {
    batch_.grow(size(options_.batch) * size(2 * depth_));
    batch_y_.grow(size(options_.batch));
    drawn_.grow(size(options_.batch));
  }
  workspace_.grow(kWorkspace);
  check(cublasCreate(&products_), "cublasCreate");
}

BinaryNetworkEnergy::~BinaryNetworkEnergy() {
  if (products_) cublasDestroy(products_);
}

int BinaryNetworkEnergy::chunk_rows(int networks) const {
  const std::size_t rows = kChunkBytes / (size(units(networks)) * sizeof(float));
  const int whole = std::max(1, static_cast<int>(rows) / kBlockRows) * kBlockRows;
  return std::min(whole, up_to_multiple(used_rows(), kBlockRows));
}

void BinaryNetworkEnergy::make_room(int networks) {
  const int data_blocks = (used_rows() + kBlockRows - 1) / kBlockRows;
  weights_.grow(size(2 * depth_) * size(units(networks)));
  second_.grow(size(units(networks)));
  gradient_.grow(size(depth_) * size(units(networks)));
  // Fewer networks have longer chunks, but never need more than this.
  units_.grow(std::max(kChunkBytes / sizeof(float), size(kBlockRows) * size(units(networks))));
  second_parts_.grow(size(data_blocks) * size(units(networks)));
  parts_.grow(size(data_blocks) * size(networks) * 2);
}

// The first call of a kernel loads it, and the products choose their algorithms: not in a graph.
void BinaryNetworkEnergy::prepare(int rows) {
  if (rows <= room_) return;
  fused_ ? fused_->prepare(rows) : make_room(rows);
  room_ = rows;
  const std::size_t all = size(rows) * size(shape_.dim());
  const DeviceArray<float> values(all), score(all);
  const DeviceArray<double> logp(size(rows));
  const auto stream = make_work_stream();
  evaluate(stream->get(), values.data(), rows, logp.data(), score.data());
  evaluate(stream->get(), values.data(), rows, logp.data(), nullptr);
  stream->wait();
}

// A change of the stream takes the workspace away.
void BinaryNetworkEnergy::products_on(cudaStream_t stream) {
  check(cublasSetStream(products_, stream), "cublasSetStream");
  check(cublasSetWorkspace(products_, workspace_.data(), workspace_.size()), "cublasSetWorkspace");
}

void BinaryNetworkEnergy::evaluate(cudaStream_t stream, const float* values, int rows, double* logp,
                                   float* score) {
  run(stream, {}, values, rows, {logp, score});
}

void BinaryNetworkEnergy::evaluate_at(cudaStream_t stream, const DeviceAt& at, const float* values,
                                      int rows, double* logp, float* score) {
  run(stream, at, values, rows, {logp, score});
}

void BinaryNetworkEnergy::predict(cudaStream_t stream, const float* values, int rows, float* out) {
  run(stream, {}, values, rows, {nullptr, nullptr, out});
}

void BinaryNetworkEnergy::run(cudaStream_t stream, const DeviceAt& at, const float* values,
                              int networks, const Wanted& wanted) {
  if (fused_) return fused_->run(stream, values, networks, wanted.logp, wanted.score);
  const Layout layout{networks, shape_.features, shape_.hidden, stride_, depth_, shape_.dim()};
  const float *data = data_.data(), *y = y_.data();
  const int rows = used_rows(), all_units = units(networks), chunk = chunk_rows(networks);
  products_on(stream);
  if (stochastic()) {
    const std::uint64_t* seed = at.seed ? at.seed : nowhere_.data();
    const std::uint64_t* step = at.step ? at.step : nowhere_.data() + 1;
    draw_rows<<<1, kThreads, size(rows_ + 31) / 32 * sizeof(std::uint32_t), stream>>>(
        seed, step, at.offset, static_cast<std::uint32_t>(rows_), static_cast<std::uint32_t>(rows),
        drawn_.data());
    check_launch();
    gather_rows<<<static_cast<unsigned>(rows), kThreads, 0, stream>>>(
        drawn_.data(), 2 * depth_, data, y, batch_.data(), batch_y_.data());
    check_launch();
    data = batch_.data(), y = batch_y_.data();
  }
  spread_weights<<<dim3(blocks(size(all_units)), static_cast<unsigned>(depth_)), kThreads, 0,
                   stream>>>(layout, values, weights_.data(), second_.data());
  check_launch();
  UnitsArgs args{.layout = layout, .factor = static_cast<float>(-4 * options_.temperature / rows)};
  args.values = values, args.second = second_.data(), args.units = units_.data();
  args.second_parts = second_parts_.data(), args.parts = parts_.data(), args.all_rows = rows;
  const float one = 1, zero = 0;
  for (int begin = 0; begin < rows; begin += chunk) {
    const int n = std::min(chunk, rows - begin);
    const float* z = data + size(begin) * size(2 * depth_);
    // (units, 2 depth) (2 depth, n), columns contiguous
    check(cublasGemmEx(products_, CUBLAS_OP_N, CUBLAS_OP_N, all_units, n, 2 * depth_, &one,
                       weights_.data(), CUDA_R_32F, all_units, z, CUDA_R_32F, 2 * depth_, &zero,
                       units_.data(), CUDA_R_32F, all_units, CUBLAS_COMPUTE_32F_FAST_TF32,
                       CUBLAS_GEMM_DEFAULT),
          "cublasGemmEx");
    args.rows = n;
    args.first_block = begin / kBlockRows;
    args.y = y + begin;
    args.predictions = wanted.predictions ? wanted.predictions + begin : nullptr;
    const dim3 grid(static_cast<unsigned>((n + kBlockRows - 1) / kBlockRows),
                    static_cast<unsigned>(networks));
    launch_units(stream, grid, args, wanted.score);
    if (!wanted.score) continue;
    // (units, n) (n, depth): of the data the first part alone
    check(cublasGemmEx(products_, CUBLAS_OP_N, CUBLAS_OP_T, all_units, depth_, n, &one,
                       units_.data(), CUDA_R_32F, all_units, z, CUDA_R_32F, 2 * depth_,
                       begin == 0 ? &zero : &one, gradient_.data(), CUDA_R_32F, all_units,
                       CUBLAS_COMPUTE_32F_FAST_TF32, CUBLAS_GEMM_DEFAULT),
          "cublasGemmEx");
  }
  const int parts = (rows + kBlockRows - 1) / kBlockRows;
  if (wanted.score) {
    write_score<<<dim3(blocks(size(shape_.dim() - 1)), static_cast<unsigned>(networks)), kThreads,
                  0, stream>>>(layout, gradient_.data(), second_parts_.data(), parts, wanted.score);
    check_launch();
  }
  if (wanted.logp || wanted.score) {
    write_sums<<<static_cast<unsigned>(networks), kThreads, 0, stream>>>(
        layout, parts_.data(), parts, -options_.temperature / rows, wanted.logp, wanted.score);
    check_launch();
  }
}

}  // namespace saltus::cuda
