#include "cuda/lattice/kernels.hpp"
#include "saltus/cuda/check.hpp"

namespace saltus::cuda {
namespace {

class WarpTeam {
 public:
  static constexpr int kWarp = 32;
  __device__ int lane() const { return static_cast<int>(threadIdx.x) % kWarp; }
  __device__ std::uint32_t sum_of_warp(std::uint32_t v) const { return __reduce_add_sync(~0u, v); }
  __device__ std::uint32_t ballot(bool v) const { return __ballot_sync(~0u, v); }
  __device__ std::int64_t of_lane(std::int64_t v, int lane) const {
    return __shfl_sync(~0u, v, lane);
  }
};

class BlockTeam {
 public:
  static constexpr int kWarp = 32;
  __device__ int rank() const { return static_cast<int>(threadIdx.x); }
  __device__ int size() const { return static_cast<int>(blockDim.x); }
  __device__ int lane() const { return rank() % kWarp; }
  __device__ int warp() const { return rank() / kWarp; }
  __device__ int warps() const { return size() / kWarp; }
  // What the neighbouring lane has: lanes 0 and 1, 2 and 3, and so on.
  __device__ std::uint32_t exchange(std::uint32_t v) const { return __shfl_xor_sync(~0u, v, 1); }
  __device__ std::uint32_t sum_of_warp(std::uint32_t v) const { return __reduce_add_sync(~0u, v); }
  __device__ void sync() const { __syncthreads(); }
  __device__ bool any(bool v) const { return __syncthreads_or(v) != 0; }
};

constexpr int kWarp = BlockTeam::kWarp;

template <class Kind, bool kAdjust>
__global__ void __launch_bounds__(256) small_lattice(const __grid_constant__ LatticeSteps steps) {
  using Chain = SmallLatticeChain<Kind, WarpTeam>;
  __shared__ typename Chain::Entry table[Kind::kCodes];
  if (threadIdx.x < Kind::kCodes) {
    table[threadIdx.x] = Chain::entry(steps.law, static_cast<int>(threadIdx.x));
  }
  __syncthreads();
  const int chain = static_cast<int>((blockIdx.x * blockDim.x + threadIdx.x) / kWarp);
  if (chain >= steps.chains) return;
  const WarpTeam team;
  Chain(team, steps, table, chain).template advance<kAdjust>();
}

// A team for each chain: at most kMostThreads, kBlocks of them at once on a multiprocessor.
template <class Kind, bool kAdjust, int kOwn, bool kAligned, int kMostThreads, int kBlocks>
__global__ void __launch_bounds__(kMostThreads, kBlocks)
    lattice(const __grid_constant__ LatticeSteps steps) {
  extern __shared__ __align__(16) unsigned char memory[];
  const BlockTeam team;
  LatticeChain<Kind, kOwn, kAligned, BlockTeam>(team, steps, LatticeMemory::in<Kind>(memory),
                                                static_cast<int>(blockIdx.x))
      .template advance<kAdjust>();
}

using Kernel = void (*)(LatticeSteps);

void launch(Kernel kernel, int blocks, int threads, std::size_t memory, cudaStream_t stream,
            const LatticeSteps& steps) {
  constexpr std::size_t kWithoutAsking = std::size_t{48} << 10;
  if (memory > kWithoutAsking) {
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(memory)),
          "cudaFuncSetAttribute");
  }
  kernel<<<static_cast<unsigned>(blocks), static_cast<unsigned>(threads), memory, stream>>>(steps);
  check(cudaGetLastError(), "launch of a lattice's steps");
}

// Few chains are spread over the multiprocessors.
constexpr int kFewChains = 264;

template <class Kind>
void launch_small(cudaStream_t stream, const LatticeSteps& steps, bool adjust) {
  const int warps = steps.chains <= kFewChains ? 1 : 8;
  launch(adjust ? small_lattice<Kind, true> : small_lattice<Kind, false>,
         (steps.chains + warps - 1) / warps, kWarp * warps, 0, stream, steps);
}

// A word to a thread up to 10,240 sites, four beyond.
constexpr int kThreads = 320, kThreadsOfFour = 512;

template <class Kind, int kOwn, bool kAligned, int kMostThreads, int kBlocks>
void launch_large(cudaStream_t stream, const LatticeSteps& steps, bool adjust) {
  const int needed = (steps.shape.words + kOwn - 1) / kOwn;
  launch(adjust ? lattice<Kind, true, kOwn, kAligned, kMostThreads, kBlocks>
                : lattice<Kind, false, kOwn, kAligned, kMostThreads, kBlocks>,
         steps.chains, (needed + kWarp - 1) / kWarp * kWarp,
         LatticeMemory::bytes<Kind>(steps.shape), stream, steps);
}

template <class Kind>
void launch_kind(cudaStream_t stream, const LatticeSteps& steps, bool adjust) {
  const LatticeShape& shape = steps.shape;
  if (shape.words == 1) return launch_small<Kind>(stream, steps, adjust);
  if (shape.words <= kThreads) {
    return launch_large<Kind, 1, false, kThreads, 3>(stream, steps, adjust);
  }
  if constexpr (Kind::kFour) {
    if (shape.aligned()) {
      return launch_large<Kind, 4, true, kThreadsOfFour, 1>(stream, steps, adjust);
    }
  }
  launch_large<Kind, 4, false, kThreadsOfFour, 1>(stream, steps, adjust);
}

}  // namespace

bool lattice_fits(const LatticeShape& shape) {
  return shape.words <= 4 * kThreadsOfFour;
}

void launch_lattice(cudaStream_t stream, const LatticeSteps& steps, bool field, bool adjust) {
  with_kind(steps.shape, field,
            [&](auto kind) { launch_kind<decltype(kind)>(stream, steps, adjust); });
}

}  // namespace saltus::cuda
