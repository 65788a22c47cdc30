#include <cuda_fp16.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "cuda/binary_network/energy.hpp"

namespace saltus::cuda {
namespace {

constexpr int kRows = 16;  // data rows of a tile
constexpr int kMostParts = 32;
// Slopes are below 0.15; so they and their small ones are numbers of half precision.
constexpr float kSlopeScale = 1024;
constexpr float kLargestFeature = 30000;

// Sizes for 16 kM units in every warp and 8 kN features.
template <int kM, int kN>
struct Sizes {
  static constexpr int units = kWarps * 16 * kM, features = 8 * kN;
  static constexpr int depth = (features + 15) / 16 * 16;
  // Distances between rows in shared memory, in half words; those of eight rows are in different
  // banks.
  static constexpr int stride = depth + 8, row_stride = kRows + 8;
  // A tile: both parts of the data by rows, the first part by features, the targets.
  static constexpr int low = kRows * stride, by_feature = 2 * kRows * stride,
                       targets = by_feature + features * row_stride;
  static constexpr int tile_bytes = targets * 2 + kRows * 4;
  static constexpr int memory_bytes = units * stride * 2 + 2 * tile_bytes + 2 * units * 4;
  static_assert(tile_bytes % 16 == 0 && units * stride * 2 % 16 == 0);
};

struct Args {
  int networks, features, hidden, dim, rows, tiles;
  const float* values;
  const unsigned char* data;
  float *gradient, *unit_sums;
  double* sums;
};

struct Fragment4 {
  std::uint32_t of[4];
};

__device__ std::uint32_t pair_at(const __half* p) {
  return *reinterpret_cast<const std::uint32_t*>(p);
}

__device__ std::uint32_t pair_of(float a, float b) {
  const __half2 both = __floats2half2_rn(a, b);
  return *reinterpret_cast<const std::uint32_t*>(&both);
}

// c (16 x 8) += a (16 x 16) b (16 x 8). With g = lane / 4 and t = lane % 4 a lane has of a the
// pairs (g, 2t), (g + 8, 2t), (g, 2t + 8), (g + 8, 2t + 8), of b the pairs (2t, g), (2t + 8, g)
// along the inner dimension, and of c the entries (g, 2t), (g, 2t + 1), (g + 8, 2t), (g + 8, 2t +
// 1).
__device__ void multiply_add(float (&c)[4], const Fragment4& a, std::uint32_t b0,
                             std::uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a.of[0]), "r"(a.of[1]), "r"(a.of[2]), "r"(a.of[3]), "r"(b0), "r"(b1));
}

__device__ void copy_async(void* to, const void* from) {
  const auto at = static_cast<std::uint32_t>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at), "l"(from));
}

template <int kM, int kN, bool kScore>
__global__ void __launch_bounds__(kThreads, 1) pass_network(Args p) {
  using S = Sizes<kM, kN>;
  extern __shared__ __align__(16) unsigned char memory[];
  __shared__ float logits[2][kWarps][kRows];
  auto* weights = reinterpret_cast<__half*>(memory);
  unsigned char* tiles = memory + S::units * S::stride * 2;
  auto* first_bias = reinterpret_cast<float*>(tiles + 2 * S::tile_bytes);
  float* second = first_bias + S::units;
  const int lane = static_cast<int>(threadIdx.x) % kWarp,
            warp = static_cast<int>(threadIdx.x) / kWarp;
  const int g = lane / 4, t = lane % 4, network = static_cast<int>(blockIdx.y);
  const float* values = p.values + static_cast<std::size_t>(network) * p.dim;

  // The network: units beyond its own have no weights.
  for (int i = static_cast<int>(threadIdx.x); i < S::units * S::depth; i += kThreads) {
    const int h = i % S::units, k = i / S::units;
    const bool there = h < p.hidden && k < p.features;
    weights[h * S::stride + k] = __float2half(there ? 2 * values[k * p.hidden + h] - 1 : 0.0f);
  }
  for (int h = static_cast<int>(threadIdx.x); h < S::units; h += kThreads) {
    const bool there = h < p.hidden;
    first_bias[h] = there ? 2 * values[p.features * p.hidden + h] - 1 : 0.0f;
    second[h] = there ? 2 * values[(p.features + 1) * p.hidden + h] - 1 : 0.0f;
  }
  const float second_bias = 2 * values[p.dim - 1] - 1;

  const int share = (p.tiles + static_cast<int>(gridDim.x) - 1) / static_cast<int>(gridDim.x);
  const int begin = min(static_cast<int>(blockIdx.x) * share, p.tiles);
  const int end = min(begin + share, p.tiles);
  const auto fetch = [&](int tile) {
    const unsigned char* from = p.data + static_cast<std::size_t>(tile) * S::tile_bytes;
    unsigned char* to = tiles + (tile & 1) * S::tile_bytes;
    for (int i = 16 * static_cast<int>(threadIdx.x); i < S::tile_bytes; i += 16 * kThreads) {
      copy_async(to + i, from + i);
    }
  };
  if (begin < end) fetch(begin);

  const int first_unit = warp * 16 * kM;
  const __half* own_weights = weights + (first_unit + g) * S::stride + 2 * t;
  float gradient[kScore ? kM : 1][kScore ? kN : 1][4] = {};
  float by_bias[kM][2] = {}, by_second[kM][2] = {};
  double squares = 0, slopes = 0;  // of data row `lane` of every tile
  for (int tile = begin; tile < end; ++tile) {
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    const auto* data = reinterpret_cast<const __half*>(tiles + (tile & 1) * S::tile_bytes);
    // Units (16 kM) by data rows (two times 8).
    float unit[kM][2][4] = {};
#pragma unroll
    for (int k = 0; k < S::depth; k += 16) {
      std::uint32_t z[2][2][2];  // part, rows, half of k
#pragma unroll
      for (int part = 0; part < 2; ++part) {
#pragma unroll
        for (int n = 0; n < 2; ++n) {
          const __half* at = data + part * S::low + (8 * n + g) * S::stride + k + 2 * t;
          z[part][n][0] = pair_at(at);
          z[part][n][1] = pair_at(at + 8);
        }
      }
#pragma unroll
      for (int m = 0; m < kM; ++m) {
        const __half* w = own_weights + 16 * m * S::stride + k;
        const Fragment4 a{{pair_at(w), pair_at(w + 8 * S::stride), pair_at(w + 8),
                           pair_at(w + 8 * S::stride + 8)}};
#pragma unroll
        for (int n = 0; n < 2; ++n) {
          multiply_add(unit[m][n], a, z[1][n][0], z[1][n][1]);
          multiply_add(unit[m][n], a, z[0][n][0], z[0][n][1]);
        }
      }
    }
    float sum[2][2] = {};  // of data rows 8 n + 2 t + j
#pragma unroll
    for (int m = 0; m < kM; ++m) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int h = first_unit + 16 * m + 8 * half + g;
        const float bias = first_bias[h], weight = second[h];
#pragma unroll
        for (int n = 0; n < 2; ++n) {
#pragma unroll
          for (int j = 0; j < 2; ++j) {
            float& u = unit[m][n][2 * half + j];
            u = tanh_of(u + bias);
            sum[n][j] += weight * u;
          }
        }
      }
    }
#pragma unroll
    for (int n = 0; n < 2; ++n) {
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        for (int d = 4; d < kWarp; d *= 2) sum[n][j] += __shfl_xor_sync(~0u, sum[n][j], d);
        if (g == 0) logits[tile & 1][warp][8 * n + 2 * t + j] = sum[n][j];
      }
    }
    __syncthreads();
    if (tile + 1 < end) fetch(tile + 1);
    // Every warp finishes all rows, lanes from 16 on those of lanes below.
    const int row = lane % kRows;
    float logit = second_bias;
#pragma unroll
    for (int w = 0; w < kWarps; ++w) logit += logits[tile & 1][w][row];
    const float e = expf(-fabsf(logit)), scale = 1 / (1 + e);
    const float f = (logit >= 0 ? 1 : e) * scale;
    const float y = reinterpret_cast<const float*>(data + S::targets)[row];
    const float miss = tile * kRows + row < p.rows ? f - y : 0.0f;
    const float slope = miss * e * scale * scale * kSlopeScale;
    squares += static_cast<double>(miss) * miss;
    slopes += slope;
    if constexpr (kScore) {
      float by_row[2][2];
#pragma unroll
      for (int n = 0; n < 2; ++n) {
#pragma unroll
        for (int j = 0; j < 2; ++j) by_row[n][j] = __shfl_sync(~0u, slope, 8 * n + 2 * t + j);
      }
      Fragment4 change[kM];
#pragma unroll
      for (int m = 0; m < kM; ++m) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const float weight = second[first_unit + 16 * m + 8 * half + g];
#pragma unroll
          for (int n = 0; n < 2; ++n) {
            float d[2];
#pragma unroll
            for (int j = 0; j < 2; ++j) {
              const float u = unit[m][n][2 * half + j];
              by_second[m][half] += by_row[n][j] * u;
              d[j] = by_row[n][j] * weight * (1 - u * u);
              by_bias[m][half] += d[j];
            }
            change[m].of[2 * n + half] = pair_of(d[0], d[1]);
          }
        }
      }
#pragma unroll
      for (int n = 0; n < kN; ++n) {
        const __half* at = data + S::by_feature + (8 * n + g) * S::row_stride + 2 * t;
        const std::uint32_t z0 = pair_at(at), z1 = pair_at(at + 8);
#pragma unroll
        for (int m = 0; m < kM; ++m) multiply_add(gradient[m][n], change[m], z0, z1);
      }
    }
  }

  // What this part of the data gives.
  const std::size_t part = static_cast<std::size_t>(blockIdx.x) * p.networks + network;
  if (warp == 0) {
    for (int d = kRows / 2; d > 0; d /= 2) {
      squares += __shfl_xor_sync(~0u, squares, d);
      slopes += __shfl_xor_sync(~0u, slopes, d);
    }
    if (lane == 0) p.sums[2 * part] = squares, p.sums[2 * part + 1] = slopes;
  }
  if constexpr (kScore) {
#pragma unroll
    for (int m = 0; m < kM; ++m) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int h = first_unit + 16 * m + 8 * half + g;
        for (int d = 1; d < 4; d *= 2) {
          by_bias[m][half] += __shfl_xor_sync(~0u, by_bias[m][half], d);
          by_second[m][half] += __shfl_xor_sync(~0u, by_second[m][half], d);
        }
        if (t == 0) {
          p.unit_sums[2 * part * S::units + h] = by_bias[m][half];
          p.unit_sums[(2 * part + 1) * S::units + h] = by_second[m][half];
        }
        float* to = p.gradient + (part * S::units + h) * S::features + 2 * t;
#pragma unroll
        for (int n = 0; n < kN; ++n) {
          *reinterpret_cast<float2*>(to + 8 * n) =
              make_float2(gradient[m][n][2 * half], gradient[m][n][2 * half + 1]);
        }
      }
    }
  }
}

// ---- Sums over the parts of the data, in order

struct Collected {
  int networks, features, hidden, dim, units, width, parts;  // width: features with padding
  float scale;
};

__global__ void write_score(Collected c, const float* gradient, const float* unit_sums,
                            float* score) {
  const int i = static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x);
  const int network = static_cast<int>(blockIdx.y);
  // Features fastest, as they lie in memory, then b1 and w2.
  const int inputs = c.features * c.hidden;
  if (i >= inputs + 2 * c.hidden) return;
  const bool of_inputs = i < inputs;
  const int rest = i - inputs;
  const int h = of_inputs ? i / c.features : rest % c.hidden, k = of_inputs ? i % c.features : 0;
  float sum = 0;
#pragma unroll 4
  for (int part = 0; part < c.parts; ++part) {
    const std::size_t at = static_cast<std::size_t>(part) * c.networks + network;
    sum += of_inputs ? gradient[(at * c.units + h) * c.width + k]
                     : unit_sums[(2 * at + rest / c.hidden) * c.units + h];
  }
  const int to = of_inputs ? k * c.hidden + h : i;
  score[static_cast<std::size_t>(network) * c.dim + to] = c.scale * sum;
}

__global__ void write_sums(Collected c, const double* sums, double logp_scale, double* logp,
                           float* score) {
  const int network = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (network >= c.networks) return;
  double squares = 0, slopes = 0;
  for (int part = 0; part < c.parts; ++part) {
    const double* at = sums + 2 * (static_cast<std::size_t>(part) * c.networks + network);
    squares += at[0], slopes += at[1];
  }
  if (logp) logp[network] = logp_scale * squares;
  if (score) {
    score[static_cast<std::size_t>(network + 1) * c.dim - 1] =
        static_cast<float>(static_cast<double>(c.scale) * slopes);
  }
}

template <int kM, int kN>
void launch(cudaStream_t stream, int parts, const Args& args, bool score) {
  constexpr int bytes = Sizes<kM, kN>::memory_bytes;
  const auto kernel = score ? pass_network<kM, kN, true> : pass_network<kM, kN, false>;
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
        "cudaFuncSetAttribute");
  const dim3 grid(static_cast<unsigned>(parts), static_cast<unsigned>(args.networks));
  kernel<<<grid, kThreads, bytes, stream>>>(args);
  check(cudaGetLastError(), "pass_network");
}

// The data, tile after tile, as they lie in shared memory.
template <int kM, int kN>
std::vector<unsigned char> pack(const RegressionRows& rows) {
  using S = Sizes<kM, kN>;
  std::vector<unsigned char> data(size((rows.rows() + kRows - 1) / kRows) * S::tile_bytes);
  const auto put = [](unsigned char* tile, int at, float v) {
    const __half h = __float2half(v);
    std::memcpy(tile + 2 * size(at), &h, 2);
    return __half2float(h);
  };
  for (int r = 0; r < rows.rows(); ++r) {
    unsigned char* tile = data.data() + size(r / kRows) * S::tile_bytes;
    const int row = r % kRows;
    for (int f = 0; f < rows.features; ++f) {
      const float z = rows.x[size(r) * size(rows.features) + size(f)];
      const float high = put(tile, row * S::stride + f, z);
      put(tile, S::low + row * S::stride + f, z - high);
      put(tile, S::by_feature + f * S::row_stride + row, high);
    }
    std::memcpy(tile + 2 * S::targets + 4 * row, &rows.y[size(r)], 4);
  }
  return data;
}

}  // namespace

struct FusedNetwork::Kind {
  int units, features, memory_bytes;
  std::vector<unsigned char> (*pack)(const RegressionRows&);
  void (*launch)(cudaStream_t, int parts, const Args&, bool score);

  template <int kM, int kN>
  static Kind of() {
    using S = Sizes<kM, kN>;
    return {S::units, S::features, S::memory_bytes, cuda::pack<kM, kN>, cuda::launch<kM, kN>};
  }
};

// The four data sets of the paper's experiment, and what is not larger; where the GPU has enough
// shared memory.
const FusedNetwork::Kind* FusedNetwork::kind_for(const BinaryNetworkShape& shape) {
  int device = 0, memory = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaDeviceGetAttribute(&memory, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
        "cudaDeviceGetAttribute");
  static const Kind kinds[] = {Kind::of<4, 2>(), Kind::of<4, 8>(), Kind::of<4, 11>(),
                               Kind::of<1, 35>()};
  for (const Kind& kind : kinds) {
    const bool fits = shape.hidden <= kind.units && shape.features <= kind.features;
    if (fits && kind.memory_bytes <= memory) return &kind;
  }
  return nullptr;
}

std::unique_ptr<FusedNetwork> FusedNetwork::make(const RegressionRows& rows,
                                                 const BinaryNetworkOptions& options) {
  const Kind* kind = kind_for({rows.features, options.hidden});
  const bool small = std::all_of(rows.x.begin(), rows.x.end(),
                                 [](float v) { return std::abs(v) <= kLargestFeature; });
  if (!kind || !small) return nullptr;
  return std::unique_ptr<FusedNetwork>(new FusedNetwork(rows, options, *kind));
}

FusedNetwork::FusedNetwork(const RegressionRows& rows, const BinaryNetworkOptions& options,
                           const Kind& kind)
    : shape_{rows.features, options.hidden},
      temperature_(options.temperature),
      rows_(rows.rows()),
      tiles_((rows.rows() + kRows - 1) / kRows),
      kind_(kind),
      data_(std::span<const unsigned char>(kind.pack(rows))) {
  int device = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaDeviceGetAttribute(&multiprocessors_, cudaDevAttrMultiProcessorCount, device),
        "cudaDeviceGetAttribute");
}

// As many as keep all multiprocessors busy to the end; each costs a little.
int FusedNetwork::parts(int networks) const {
  int best = 1;
  double best_use = 0;
  for (int parts = 1; parts <= std::min(kMostParts, tiles_); ++parts) {
    const double blocks = static_cast<double>(networks) * parts / multiprocessors_;
    const double share = (tiles_ + parts - 1) / parts;
    const double use = blocks / std::ceil(blocks) * tiles_ / (share * parts) - 0.002 * parts;
    if (use > best_use) best = parts, best_use = use;
  }
  return best;
}

// Fewer networks may have more parts.
void FusedNetwork::prepare(int networks) {
  std::size_t most = 0;
  for (int n = 1; n <= networks; ++n) most = std::max(most, size(parts(n)) * size(n));
  gradient_.grow(most * size(kind_.units) * size(kind_.features));
  unit_sums_.grow(most * 2 * size(kind_.units));
  sums_.grow(most * 2);
}

void FusedNetwork::run(cudaStream_t stream, const float* values, int networks, double* logp,
                       float* score) {
  const int count = parts(networks);
  const Args args{networks,    shape_.features, shape_.hidden, shape_.dim(),     rows_,
                  tiles_,      values,          data_.data(),  gradient_.data(), unit_sums_.data(),
                  sums_.data()};
  kind_.launch(stream, count, args, score != nullptr);
  const double scale = -temperature_ / rows_;
  const Collected c{
      networks,    shape_.features, shape_.hidden, shape_.dim(),
      kind_.units, kind_.features,  count,         static_cast<float>(4 * scale / kSlopeScale)};
  if (score) {
    const int entries = shape_.dim() - 1;
    write_score<<<dim3(static_cast<unsigned>((entries + kThreads - 1) / kThreads),
                       static_cast<unsigned>(networks)),
                  kThreads, 0, stream>>>(c, gradient_.data(), unit_sums_.data(), score);
    check(cudaGetLastError(), "write_score");
  }
  write_sums<<<static_cast<unsigned>((networks + kThreads - 1) / kThreads), kThreads, 0, stream>>>(
      c, sums_.data(), scale, logp, score);
  check(cudaGetLastError(), "write_sums");
}

}  // namespace saltus::cuda
