// One image per thread block. Two warpgroups multiply, activate and go back, each for half of the
// channels; one more warp streams the weights, tap after tap, through a ring in shared memory.
// Clusters of 2 and of 4 blocks that share what they read gave the same results and were not
// faster.
//
// A 7 x 7 map lies in shared memory with a border of zeros and a pitch of 9: place (i, j) is row
// 9 (i + 1) + j + 1. Tap (u, v) of a convolution then reads, for output row q = 9 i + j, map row
// q + 9 u + v: the operand of a whole tap is one window, 64 rows long, and rows with j > 6 or i > 6
// are junk. A 14 x 14 map is four such maps, by the parity of row and column, and its outputs are
// four tiles, again by parity. So every tile of every layer has the same place (i, j) and channels
// in the same thread's registers.
//
// Activations times kActivationScale, and gradients times kGradientScale, are rounded to half
// precision where they enter a product; sums, residual connections and the read-out are in single
// precision. A network that is being learned may take values of millions at states off its data,
// which half precision by itself (65,504) cannot hold.
#include "cuda/resnet/hopper.cuh"
#include "cuda/resnet/layout.hpp"

namespace saltus::cuda::resnet {
namespace {

constexpr int kPitch = 9, kPlaces = 49;
constexpr int kRows = 84;            // of a map: 9 * 9 and what junk rows reach
constexpr int kSlice = kRows * 16;   // 8 channels of all rows
constexpr int kMap = 8 * kSlice;     // 64 channels
constexpr int kInside = kPitch + 1;  // row of place (0, 0)
constexpr int kTile = 64;            // rows of a product
constexpr int kPatchSlice = 4 * kTile * 16;
constexpr int kGroups = 2, kConsumers = kGroups * 128, kThreads = kConsumers + 32;
constexpr int kHalf = kChannels / kGroups;          // channels of a warpgroup
constexpr int kRegisters = kHalf / 2;               // that hold them: 64 rows, 128 threads
constexpr int kDerivative = kTile * kChannels * 2;  // bytes of a layer's derivatives of a tile
constexpr int kBackPitch = 52;                      // of a row of the patches' gradients
constexpr float kGradientScale = 4;

// Shared memory. The derivatives' room serves the patches before and the end of the way back after.
constexpr int kStages = 6;
constexpr int kAtSplit = 0;  // a 14 x 14 map
constexpr int kAtY = kAtSplit + 4 * kMap;
constexpr int kAtH = kAtY + kMap;
constexpr int kAtDerivatives = kAtH + kMap;
constexpr int kAtPatches = kAtDerivatives;
constexpr int kAtSecondSplit = kAtDerivatives;
constexpr int kAtBack = kAtSecondSplit + 4 * kMap;
constexpr int kAtRing = kAtDerivatives + 2 * (kBlocks - 1) * kDerivative;
constexpr int kAtFull = kAtRing + kStages * kBlockBytes;
constexpr int kAtEmpty = kAtFull + 8 * kStages;
constexpr int kAtSums = kAtEmpty + 8 * kStages;
constexpr int kShared = kAtSums + 64;
static_assert(kAtPatches + 6 * kPatchSlice <= kAtRing);
static_assert(kAtBack + 4 * kTile * kBackPitch * 4 <= kAtRing);
static_assert(kAtRing % 128 == 0 && kShared <= 232448);

// The weights as they come, in the order of layout.hpp.
class Ring {
 public:
  __device__ explicit Ring(std::uint32_t shared) : shared_(shared) {}

  // Where the next block lies, once it is there.
  __device__ std::uint32_t next() {
    barrier_wait(shared_ + kAtFull + 8 * stage_, phase_);
    const std::uint32_t at = shared_ + kAtRing + stage_ * kBlockBytes;
    if (++stage_ == kStages) stage_ = 0, phase_ ^= 1;
    return at;
  }

  // The oldest block that was not released is no longer read by this warp.
  __device__ void release() {
    if (threadIdx.x % 32 == 0) barrier_arrive(shared_ + kAtEmpty + 8 * released_);
    if (++released_ == kStages) released_ = 0;
  }

 private:
  std::uint32_t shared_, stage_ = 0, released_ = 0, phase_ = 0;
};

__device__ void stream_weights(const std::uint8_t* weights, int blocks, std::uint32_t shared) {
  std::uint32_t stage = 0, phase = 1;  // all stages are empty at first
  for (int b = 0; b < blocks; ++b) {
    const std::uint32_t full = shared + kAtFull + 8 * stage;
    barrier_wait(shared + kAtEmpty + 8 * stage, phase);
    barrier_expect(full, kBlockBytes);
    copy_to_block(shared + kAtRing + stage * kBlockBytes,
                  weights + static_cast<std::size_t>(b) * kBlockBytes, kBlockBytes, full);
    if (++stage == kStages) stage = 0, phase ^= 1;
  }
}

// d[t] (+)= sum over `blocks` weight blocks b of A(b, t) B(b), where A's 64 rows begin at address
// `window(b, t)` and have slices of 8 entries `slice` bytes apart. kSteps: entries / 16. Each
// warpgroup takes its part of B's rows: 2 n of them, for n registers.
template <int kSteps, int tiles, int n, class Window>
__device__ inline void multiply(float (&d)[tiles][n], Ring& ring, int blocks, bool fresh, int slice,
                                Window window) {
  constexpr int kWeightSlice = kGroups * 2 * n * 16;
  const std::uint32_t part = threadIdx.x / 128 * (2 * n * 16);
#pragma unroll
  for (int t = 0; t < tiles; ++t) pin(d[t]);
#pragma unroll 1
  for (int b = 0; b < blocks; ++b) {
    const std::uint32_t weights = ring.next() + part;
    products_begin();
#pragma unroll
    for (int t = 0; t < tiles; ++t) {
      const std::uint32_t a = window(b, t);
#pragma unroll
      for (int k = 0; k < kSteps; ++k) {
        product(d[t], operand(a + 2 * k * slice, slice),
                operand(weights + 2 * k * kWeightSlice, kWeightSlice), !fresh || b > 0 || k > 0);
      }
    }
    products_commit();
    if (b > 0) {
      products_wait<1>();
      ring.release();
    }
  }
  products_wait<0>();
  ring.release();
#pragma unroll
  for (int t = 0; t < tiles; ++t) pin(d[t]);
}

__device__ inline void consumers_sync() {
  asm volatile("bar.sync 1, 256;" ::: "memory");
}

// What was stored to maps is now there for the products of all warps.
__device__ inline void maps_written() {
  fence_for_products();
  consumers_sync();
}

// Which rows and channels of a tile this thread's registers hold: register 4 n + 2 e + c is row
// row[e], channel 8 n + channel + c; the latter lie in a map at slot[e] + n * kSlice.
struct Place {
  int row[2], slot[2], group, pair, channel;
  bool valid[2];

  __device__ Place() {
    const int lane = threadIdx.x % 32;
    group = threadIdx.x / 128;
    pair = 2 * (lane % 4);
    channel = group * kHalf + pair;
    for (int e = 0; e < 2; ++e) {
      row[e] = static_cast<int>(threadIdx.x) / 32 % 4 * 16 + lane / 4 + 8 * e;
      slot[e] = group * (kHalf / 8) * kSlice + row[e] * 16 + 2 * pair;
      valid[e] = row[e] % kPitch < 7 && row[e] / kPitch < 7;
    }
  }
};

__device__ inline float power_of_two(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// Of z / kActivationScale, times kActivationScale; and its derivative.
__device__ inline void swish(float z, float& y, float& derivative) {
  constexpr float kBack = 1 / kActivationScale, kLog2E = 1.44269504f;
  const float s = __fdividef(1.0f, 1.0f + power_of_two(z * (-kBack * kLog2E)));
  y = z * s;
  derivative = s + y * (kBack - kBack * s);
}

__device__ inline std::uint32_t pair_of(float a, float b) {
  const __half2 h = __floats2half2_rn(a, b);
  return *reinterpret_cast<const std::uint32_t*>(&h);
}
// What is beyond the range becomes the largest number within. A proposal needs some finite score:
// the Metropolis test makes up for its being another, and DULA, which has none, makes other steps
// there. NaN does not occur, as operands are finite.
__device__ inline std::uint32_t bounded_pair_of(float a, float b) {
  const __half2 most = __half2half2(__ushort_as_half(0x7BFF));
  const __half2 h = __hmin2(__hmax2(__floats2half2_rn(a, b), __hneg2(most)), most);
  return *reinterpret_cast<const std::uint32_t*>(&h);
}
__device__ inline float2 floats_of(std::uint32_t pair) {
  return __half22float2(*reinterpret_cast<const __half2*>(&pair));
}

// The derivatives of one layer's tile, as pairs, in the thread's own order.
constexpr int kPairs = kRegisters / 2;
struct Derivatives {
  uint4* at;
  __device__ Derivatives(void* layer) : at(static_cast<uint4*>(layer) + threadIdx.x) {}
  __device__ void store(const std::uint32_t (&pairs)[kPairs]) const {
#pragma unroll
    for (int k = 0; k < kPairs / 4; ++k) {
      at[k * kConsumers] =
          make_uint4(pairs[4 * k], pairs[4 * k + 1], pairs[4 * k + 2], pairs[4 * k + 3]);
    }
  }
  __device__ void load(std::uint32_t (&pairs)[kPairs]) const {
#pragma unroll
    for (int k = 0; k < kPairs / 4; ++k) {
      const uint4 v = at[k * kConsumers];
      pairs[4 * k] = v.x, pairs[4 * k + 1] = v.y, pairs[4 * k + 2] = v.z, pairs[4 * k + 3] = v.w;
    }
  }
};

// z <- swish(z + bias), into the map (which points to row 0's place) and, if wanted, with
// derivatives.
template <bool kScore>
__device__ inline void activate(float (&z)[kRegisters], const float2 (&bias)[kHalf / 8],
                                const Place& place, std::uint8_t* map,
                                const Derivatives& derivatives) {
  std::uint32_t pairs[kPairs];
#pragma unroll
  for (int n = 0; n < kHalf / 8; ++n) {
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      float& a = z[4 * n + 2 * e];
      float& b = z[4 * n + 2 * e + 1];
      float da, db;
      swish(a + bias[n].x, a, da);
      swish(b + bias[n].y, b, db);
      const std::uint32_t y = place.valid[e] ? pair_of(a, b) : 0;
      *reinterpret_cast<std::uint32_t*>(map + n * kSlice + place.slot[e]) = y;
      if constexpr (kScore) pairs[2 * n + e] = place.valid[e] ? pair_of(da, db) : 0;
    }
  }
  if constexpr (kScore) derivatives.store(pairs);
}

// g <- g * derivative, also into the map.
__device__ inline void back(float (&g)[kRegisters], const Place& place, std::uint8_t* map,
                            const Derivatives& derivatives) {
  std::uint32_t pairs[kPairs];
  derivatives.load(pairs);
#pragma unroll
  for (int n = 0; n < kHalf / 8; ++n) {
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      const float2 d = floats_of(pairs[2 * n + e]);
      float& a = g[4 * n + 2 * e];
      float& b = g[4 * n + 2 * e + 1];
      a = place.valid[e] ? a * d.x : 0;
      b = place.valid[e] ? b * d.y : 0;
      *reinterpret_cast<std::uint32_t*>(map + n * kSlice + place.slot[e]) = bounded_pair_of(a, b);
    }
  }
}

// Entry k of the patch of place (row, column) of the 14 x 14 map.
__device__ inline float patch_entry(const float* x, int row, int column, int k) {
  const auto pixel = [x](int r, int c) {
    return r >= 0 && c >= 0 && r < kSide && c < kSide ? x[r * kSide + c] : 0.0f;
  };
  if (k < 25) return pixel(2 * row - 2 + k / 5, 2 * column - 2 + k % 5);
  const bool top = row == 0, left = column == 0;
  if (k >= kTop && k < kTopOne) return top ? pixel(0, 2 * column - 2 + k - kTop) : 0;
  if (k == kTopOne) return top;
  if (k >= kLeft && k < kLeftOne) return left ? pixel(2 * row - 2 + k - kLeft, 0) : 0;
  if (k == kLeftOne) return left;
  if (k == kCorner) return top && left ? pixel(0, 0) : 0;
  if (k == kCornerOne) return top && left;
  return 0;
}

__device__ inline void write_patches(const float* x, std::uint8_t* patches) {
  for (int r = static_cast<int>(threadIdx.x); r < 4 * kTile; r += kConsumers) {
    const int tile = r / kTile, q = r % kTile, i = q / kPitch, j = q % kPitch;
    const bool valid = i < 7 && j < 7;
    const int row = 2 * i + tile / 2, column = 2 * j + tile % 2;
#pragma unroll
    for (int slice = 0; slice < kPatch / 8; ++slice) {
      std::uint32_t pairs[4];
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const int at = 8 * slice + 2 * k;
        pairs[k] = valid ? pair_of(kActivationScale * patch_entry(x, row, column, at),
                                   kActivationScale * patch_entry(x, row, column, at + 1))
                         : 0;
      }
      *reinterpret_cast<uint4*>(patches + slice * kPatchSlice + r * 16) =
          make_uint4(pairs[0], pairs[1], pairs[2], pairs[3]);
    }
  }
}

// How far on the taps of kBackTaps act, as bits.
constexpr int bits_of(int BackTap::*member) {
  int bits = 0;
  for (int k = 0; k < kTaps; ++k) bits |= kBackTaps[k].*member << k;
  return bits;
}
constexpr int kBackDown = bits_of(&BackTap::down), kBackRight = bits_of(&BackTap::right);

// Where in a split map the tile of one parity begins: map row of place (0, 0).
__device__ constexpr int split_begin(int tile) {
  const int row = tile / 2, column = tile % 2;
  return ((1 - row) * 2 + (1 - column)) * kMap + (row * kPitch + column) * 16;
}
// The window of tap (u, v) for the outputs of one parity: padded row 2 i + row + u.
__device__ inline std::uint32_t split_window(int row, int column, int u, int v) {
  const int r = row + u, c = column + v;
  return static_cast<std::uint32_t>(((r & 1) * 2 + (c & 1)) * kMap +
                                    ((r >> 1) * kPitch + (c >> 1)) * 16);
}

// The sum over the consumers in a fixed order, for all of them.
template <class T>
__device__ T sum_of_consumers(T v, T* room) {
#pragma unroll
  for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xFFFFFFFFu, v, d);
  if (threadIdx.x % 32 == 0) room[threadIdx.x / 32] = v;
  consumers_sync();
  v = 0;
  for (int w = 0; w < kConsumers / 32; ++w) v += room[w];
  consumers_sync();
  return v;
}

// Pixel p's derivative from those of the patches' entries.
__device__ inline float pixel_gradient(const float* back_rows, int p) {
  const int row = p / kSide, column = p % kSide;
  const auto entry = [back_rows](int i, int j, int k) {
    const int tile = (i & 1) * 2 + (j & 1), q = (i >> 1) * kPitch + (j >> 1);
    return back_rows[(tile * kTile + q) * kBackPitch + k];
  };
  const int i0 = max(0, (row - 1) / 2), i1 = min(13, row / 2 + 1);
  const int j0 = max(0, (column - 1) / 2), j1 = min(13, column / 2 + 1);
  float sum = 0;
  for (int i = i0; i <= i1; ++i) {
    const int m = row + 2 - 2 * i;
    if (m < 0 || m > 4) continue;
    for (int j = j0; j <= j1; ++j) {
      const int n = column + 2 - 2 * j;
      if (n >= 0 && n <= 4) sum += entry(i, j, 5 * m + n);
    }
    if (column == 0) sum += entry(i, 0, kLeft + m);
  }
  if (row == 0) {
    for (int j = j0; j <= j1; ++j) {
      const int n = column + 2 - 2 * j;
      if (n >= 0 && n <= 4) sum += entry(0, j, kTop + n);
    }
    if (column == 0) sum += entry(0, 0, kCorner);
  }
  return sum;
}

template <bool kScore>
class Network {
 public:
  __device__ Network(const Arguments& arguments, std::uint8_t* memory)
      : arguments_(arguments),
        memory_(memory),
        shared_(shared_address(memory)),
        ring_(shared_),
        row_(static_cast<int>(blockIdx.x)) {}

  __device__ void run() {
    load_image();
    float y[kRegisters];  // of the last block
    forward(y);
    write_logp(y);
    if constexpr (kScore) backward(y);
  }

 private:
  __device__ std::uint8_t* at(int offset) const { return memory_ + offset; }
  __device__ void* derivatives(int layer) const { return at(kAtDerivatives + layer * kDerivative); }
  __device__ void* split_derivatives(int layer, int tile) const {
    return reinterpret_cast<std::uint8_t*>(arguments_.scratch) +
           ((static_cast<std::size_t>(row_) * 2 + layer) * 4 + tile) * kDerivative;
  }

  __device__ void load_image() {
    float* image = reinterpret_cast<float*>(at(kAtH));
    const float* values = arguments_.values + static_cast<std::size_t>(row_) * kPixels;
    double base = 0;
    for (int p = static_cast<int>(threadIdx.x); p < kPixels; p += kConsumers) {
      image[p] = values[p];
      base += static_cast<double>(values[p]) * arguments_.base_logit[p];
    }
    base_ = base;
    for (int k = static_cast<int>(threadIdx.x); k < kAtH / 16; k += kConsumers) {
      reinterpret_cast<uint4*>(memory_)[k] = make_uint4(0, 0, 0, 0);
    }
    consumers_sync();
    write_patches(image, at(kAtPatches));
    consumers_sync();
    for (int k = static_cast<int>(threadIdx.x); k < kMap / 16; k += kConsumers) {
      reinterpret_cast<uint4*>(at(kAtH))[k] = make_uint4(0, 0, 0, 0);
    }
    maps_written();
  }

  __device__ void load_bias(float2 (&bias)[kHalf / 8], int row) const {
    const float* from = arguments_.bias + row * kChannels + place_.channel;
#pragma unroll
    for (int n = 0; n < kHalf / 8; ++n) {
      bias[n] = __ldg(reinterpret_cast<const float2*>(from + 8 * n));
    }
  }

  __device__ void forward(float (&y)[kRegisters]) {
    forward_split();
    float z[1][kRegisters];
    float2 bias[kHalf / 8];
    // Block 1, which halves.
    load_bias(bias, Bias::second0 + 1);
    const std::uint32_t split = shared_ + kAtSplit;
    multiply<4>(z, ring_, kTaps, true, kSlice,
                [split](int b, int) { return split + split_window(0, 0, b / 3, b % 3); });
    activate<kScore>(z[0], bias, place_, at(kAtH + kInside * 16), derivatives(0));
    maps_written();
    load_bias(bias, Bias::second0 + 2);
    multiply<4>(z, ring_, 1, true, kSlice,
                [split](int, int) { return split + split_window(0, 0, 1, 1); });
    multiply<4>(z, ring_, kTaps, false, kSlice, tap_window(kAtH));
    activate<kScore>(z[0], bias, place_, at(kAtY + kInside * 16), derivatives(1));
#pragma unroll
    for (int k = 0; k < kRegisters; ++k) y[k] = z[0][k];
    maps_written();
#pragma unroll 1
    for (int block = 2; block < kBlocks; ++block) {
      load_bias(bias, Bias::patch_first + 2 * block);
      multiply<4>(z, ring_, kTaps, true, kSlice, tap_window(kAtY));
      activate<kScore>(z[0], bias, place_, at(kAtH + kInside * 16), derivatives(2 * block - 2));
      maps_written();
      load_bias(bias, Bias::second0 + 2 * block);
      multiply<4>(z, ring_, kTaps, true, kSlice, tap_window(kAtH));
#pragma unroll
      for (int k = 0; k < kRegisters; ++k) y[k] += z[0][k];
      activate<kScore>(y, bias, place_, at(kAtY + kInside * 16), derivatives(2 * block - 1));
      maps_written();
    }
  }

  // The first convolution and block 0, on 14 x 14 places.
  __device__ void forward_split() {
    float z[4][kRegisters];
    float2 bias[kHalf / 8];
    const std::uint32_t shared = shared_;
    const auto patches = [shared](int, int t) { return shared + kAtPatches + t * kTile * 16; };
    load_bias(bias, Bias::patch_first);
    multiply<3>(z, ring_, 1, true, kPatchSlice, patches);
#pragma unroll
    for (int t = 0; t < 4; ++t) {
      activate<kScore>(z[t], bias, place_, at(kAtSplit + split_begin(t)), split_derivatives(0, t));
    }
    maps_written();
    load_bias(bias, Bias::second0);
    multiply<3>(z, ring_, 1, true, kPatchSlice, patches);
    multiply<4>(z, ring_, kTaps, false, kSlice, [shared](int b, int t) {
      return shared + kAtSplit + split_window(t / 2, t % 2, b / 3, b % 3);
    });
    consumers_sync();  // all warps have read the map
#pragma unroll
    for (int t = 0; t < 4; ++t) {
      activate<kScore>(z[t], bias, place_, at(kAtSplit + split_begin(t)), split_derivatives(1, t));
    }
    maps_written();
  }

  struct TapWindow {
    std::uint32_t map;
    __device__ std::uint32_t operator()(int b, int) const {
      return map + static_cast<std::uint32_t>((b / 3 * kPitch + b % 3) * 16);
    }
  };
  __device__ TapWindow tap_window(int map) const {
    return {shared_ + map};
  }

  __device__ void write_logp(const float (&y)[kRegisters]) {
    float f = 0;
    const float* readout = arguments_.bias + Bias::readout * kChannels;
#pragma unroll
    for (int n = 0; n < kHalf / 8; ++n) {
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        if (!place_.valid[e]) continue;
        f += y[4 * n + 2 * e] * readout[8 * n + place_.channel];
        f += y[4 * n + 2 * e + 1] * readout[8 * n + place_.channel + 1];
      }
    }
    double* room = reinterpret_cast<double*>(at(kAtSums));
    const double sum = sum_of_consumers(static_cast<double>(f), room);
    const double base = sum_of_consumers(base_, room);
    if (threadIdx.x == 0 && arguments_.logp) {
      arguments_.logp[row_] =
          sum / (kActivationScale * kPlaces) + readout[kChannels] + base + arguments_.base_constant;
    }
  }

  __device__ void backward(float (&g)[kRegisters]) {
    const float* readout = arguments_.bias + Bias::readout * kChannels;
#pragma unroll
    for (int k = 0; k < kRegisters; ++k) {
      g[k] = readout[k / 4 * 8 + place_.channel + k % 2] * (kGradientScale / kPlaces);
    }
    float z[1][kRegisters];
#pragma unroll 1
    for (int block = kBlocks - 1; block >= 2; --block) {
      back(g, place_, at(kAtY + kInside * 16), derivatives(2 * block - 1));
      maps_written();
      multiply<4>(z, ring_, kTaps, true, kSlice, tap_window(kAtY));
      back(z[0], place_, at(kAtH + kInside * 16), derivatives(2 * block - 2));
      maps_written();
      multiply<4>(z, ring_, kTaps, true, kSlice, tap_window(kAtH));
#pragma unroll
      for (int k = 0; k < kRegisters; ++k) g[k] += z[0][k];
    }
    back(g, place_, at(kAtY + kInside * 16), derivatives(1));
    maps_written();
    multiply<4>(z, ring_, kTaps, true, kSlice, tap_window(kAtY));
    back(z[0], place_, at(kAtH + kInside * 16), derivatives(0));
    maps_written();
    backward_split();
  }

  // The tiles of one parity of the gradient by block 1's input, from its first convolution.
  template <int first, int taps>
  __device__ void back_taps(float (&g)[1][kRegisters]) {
    const std::uint32_t map = shared_ + kAtH;
    multiply<4>(g, ring_, taps, true, kSlice, [map](int b, int) {
      const int down = kBackDown >> (first + b) & 1, right = kBackRight >> (first + b) & 1;
      return map + static_cast<std::uint32_t>(((down + 1) * kPitch + right + 1) * 16);
    });
  }

  __device__ void backward_split() {
    // By tile, so that each multiplies into registers of its own.
    float g0[1][kRegisters], g1[1][kRegisters], g2[1][kRegisters], g3[1][kRegisters];
    back_taps<0, 1>(g0);
    back_taps<1, 2>(g1);
    back_taps<3, 2>(g2);
    back_taps<5, 4>(g3);
    const std::uint32_t y = shared_ + kAtY + kInside * 16;
    multiply<4>(g0, ring_, 1, false, kSlice, [y](int, int) { return y; });
    back(g0[0], place_, at(kAtSplit + split_begin(0)), split_derivatives(1, 0));
    back(g1[0], place_, at(kAtSplit + split_begin(1)), split_derivatives(1, 1));
    back(g2[0], place_, at(kAtSplit + split_begin(2)), split_derivatives(1, 2));
    back(g3[0], place_, at(kAtSplit + split_begin(3)), split_derivatives(1, 3));
    maps_written();
    second_map();
    patches_gradient();
  }

  // Through block 0's second convolution, into the second split map.
  __device__ void second_map() {
    float g[4][kRegisters];
    const std::uint32_t split = shared_ + kAtSplit;
    multiply<4>(g, ring_, kTaps, true, kSlice,
                [split](int b, int t) { return split + split_window(t / 2, t % 2, b / 3, b % 3); });
#pragma unroll
    for (int t = 0; t < 4; ++t) {
      back(g[t], place_, at(kAtSecondSplit + t * kMap), split_derivatives(0, t));
    }
    maps_written();
  }

  __device__ void patches_gradient() {
    float d[4][kPatch / kGroups / 2];
    const std::uint32_t shared = shared_;
    multiply<4>(d, ring_, 1, true, kSlice, [shared](int, int t) {
      return shared + kAtSplit + static_cast<std::uint32_t>(split_begin(t));
    });
    multiply<4>(d, ring_, 1, false, kSlice,
                [shared](int, int t) { return shared + kAtSecondSplit + t * kMap; });
    float* rows = reinterpret_cast<float*>(at(kAtBack));
#pragma unroll
    for (int t = 0; t < 4; ++t) {
#pragma unroll
      for (int k = 0; k < kPatch / kGroups / 2; k += 2) {
        const int row = t * kTile + place_.row[k / 2 % 2];
        const int column = place_.group * (kPatch / kGroups) + k / 4 * 8 + place_.pair;
        *reinterpret_cast<float2*>(rows + row * kBackPitch + column) =
            make_float2(d[t][k], d[t][k + 1]);
      }
    }
    consumers_sync();
    float* score = arguments_.score + static_cast<std::size_t>(row_) * kPixels;
    for (int p = static_cast<int>(threadIdx.x); p < kPixels; p += kConsumers) {
      score[p] = pixel_gradient(rows, p) * (1 / kGradientScale) + arguments_.base_logit[p];
    }
  }

  const Arguments& arguments_;
  std::uint8_t* memory_;
  std::uint32_t shared_;
  Ring ring_;
  Place place_;
  int row_;
  double base_;
};

template <bool kScore>
__global__ void __launch_bounds__(kThreads, 1)
    network(const __grid_constant__ Arguments arguments) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL  // elsewhere FusedResnet does not serve
  extern __shared__ __align__(128) std::uint8_t memory[];
  const std::uint32_t shared = shared_address(memory);
  if (threadIdx.x == 0) {
    for (int s = 0; s < kStages; ++s) {
      barrier_init(shared + kAtFull + 8 * s, 1);
      barrier_init(shared + kAtEmpty + 8 * s, kConsumers / 32);
    }
    barrier_init_fence();
  }
  __syncthreads();
  if (threadIdx.x < kConsumers) {
    Network<kScore>(arguments, memory).run();
  } else if (threadIdx.x == kConsumers) {
    stream_weights(arguments.weights, kScore ? Order::end : Order::forward_end, shared);
  }
#endif
}

template <bool kScore>
cudaError_t launch_as(const Arguments& arguments, cudaStream_t stream) {
  const cudaError_t allowed =
      cudaFuncSetAttribute(network<kScore>, cudaFuncAttributeMaxDynamicSharedMemorySize, kShared);
  if (allowed != cudaSuccess) return allowed;
  network<kScore><<<static_cast<unsigned>(arguments.rows), kThreads, kShared, stream>>>(arguments);
  return cudaGetLastError();
}

}  // namespace

std::size_t scratch_bytes_per_row() {
  return 2 * 4 * kDerivative;
}

cudaError_t launch(const Arguments& arguments, cudaStream_t stream) {
  return arguments.score ? launch_as<true>(arguments, stream) : launch_as<false>(arguments, stream);
}

}  // namespace saltus::cuda::resnet
