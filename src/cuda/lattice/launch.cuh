// Teams of threads on a GPU, and which of them takes which lattice.
#pragma once

#include "cuda/lattice/kernels.hpp"
#include "saltus/cuda/check.hpp"

namespace saltus::cuda {

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
  static constexpr int kWarp = 32, kBlocks = 1;
  __device__ int block() const { return 0; }
  __device__ int rank() const { return static_cast<int>(threadIdx.x); }
  __device__ int size() const { return static_cast<int>(blockDim.x); }
  __device__ int lane() const { return rank() % kWarp; }
  __device__ int warp() const { return rank() / kWarp; }
  __device__ int warps() const { return size() / kWarp; }
  // What the neighbouring lane has, lanes 0 and 1, 2 and 3, and so on; and the lane two from here.
  __device__ std::uint32_t exchange(std::uint32_t v) const { return __shfl_xor_sync(~0u, v, 1); }
  __device__ std::uint32_t exchange_pairs(std::uint32_t v) const {
    return __shfl_xor_sync(~0u, v, 2);
  }
  __device__ std::uint32_t sum_of_warp(std::uint32_t v) const { return __reduce_add_sync(~0u, v); }
  __device__ void sync() const { __syncthreads(); }
  __device__ bool any(bool v, std::uint32_t*) const { return __syncthreads_or(v) != 0; }
  template <class T>
  __device__ void share(T* place, T v) const {
    *place = v;
  }
};

// Two blocks that reach one another's memory: a cluster, from Hopper on.
class ClusterTeam : public BlockTeam {
 public:
  static constexpr int kBlocks = 2;
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  static constexpr bool kThere = true;
#else
  static constexpr bool kThere = false;
#endif

  __device__ int block() const {
    std::uint32_t rank = 0;
    if constexpr (kThere) asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return static_cast<int>(rank);
  }
  __device__ void sync() const {
    if constexpr (kThere) {
      asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
      asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
    }
  }
  __device__ void share(std::uint32_t* place, std::uint32_t v) const {
    *place = v;
    if constexpr (kThere) {
      asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(of_other(place)), "r"(v) : "memory");
    }
  }
  __device__ void share(std::uint64_t* place, std::uint64_t v) const {
    *place = v;
    if constexpr (kThere) {
      asm volatile("st.shared::cluster.u64 [%0], %1;" ::"r"(of_other(place)), "l"(v) : "memory");
    }
  }
  __device__ bool any(bool v, std::uint32_t* flags) const {
    const std::uint32_t of_warp = __any_sync(~0u, v);
    if (lane() == 0) share(flags + block() * warps() + warp(), of_warp);
    sync();
    return __any_sync(~0u, lane() < kBlocks * warps() && flags[lane()] != 0);
  }

 private:
  // The same place in the memory of the other block.
  __device__ std::uint32_t of_other(const void* place) const {
    std::uint32_t there = 0;
    if constexpr (kThere) {
      const auto here = static_cast<std::uint32_t>(__cvta_generic_to_shared(place));
      asm("mapa.shared::cluster.u32 %0, %1, %2;"
          : "=r"(there)
          : "r"(here), "r"(static_cast<std::uint32_t>(block() ^ 1)));
    }
    return there;
  }
};

namespace lattice_launch {

constexpr int kWarp = BlockTeam::kWarp;
// Up to 10,240 sites a thread has a word, beyond that four.
constexpr int kThreads = 320, kThreadsOfFour = 512;
// On small lattices up to kFewChains are spread over the multiprocessors, and from kManyChains on
// each chain has a thread. Blocks are one warp until kLongBlocks chains keep all schedulers busy.
constexpr int kFewChains = 264, kManyChains = 4000, kLongBlocks = 20000;

// A warp for each chain.
template <class Sampler, class Kind>
__global__ void __launch_bounds__(256) small_lattice(const __grid_constant__ LatticeSteps steps) {
  __shared__ typename Sampler::Entry table[Kind::kCodes];
  if (threadIdx.x < Kind::kCodes) {
    table[threadIdx.x] = Sampler::Entry::of(steps.law, static_cast<int>(threadIdx.x));
  }
  __syncthreads();
  const int chain = static_cast<int>((blockIdx.x * blockDim.x + threadIdx.x) / kWarp);
  if (chain < steps.chains) Sampler::template small<Kind>(WarpTeam(), steps, table, chain);
}

// A thread for each chain.
template <class Sampler, class Kind>
__global__ void __launch_bounds__(128) lone_lattice(const __grid_constant__ LatticeSteps steps) {
  __shared__ std::uint32_t table[32 * Kind::kCodes];
  for (int k = static_cast<int>(threadIdx.x); k < 32 * Kind::kCodes;
       k += static_cast<int>(blockDim.x)) {
    table[k] = steps.law.minus_threshold[k / 32];
  }
  __syncthreads();
  const auto chain = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (chain < steps.chains) Sampler::template lone<Kind>(WarpTeam(), steps, table, chain);
}

// A team for each chain: blocks of at most kMostThreads, kAtOnce of them on a multiprocessor.
template <class Sampler, class Kind, class Team, int kOwn, bool kAligned, int kMostThreads,
          int kAtOnce>
__global__ void __launch_bounds__(kMostThreads, kAtOnce)
    lattice(const __grid_constant__ LatticeSteps steps) {
  extern __shared__ __align__(16) unsigned char memory[];
  const Team team;
  Sampler::template large<Kind, kOwn, kAligned>(team, steps, LatticeMemory::in<Kind>(memory),
                                                static_cast<int>(blockIdx.x) / Team::kBlocks);
}

struct Grid {
  int blocks, threads;
  std::size_t memory = 0;
  int cluster = 1;
};

inline void launch(void (*kernel)(LatticeSteps), const Grid& grid, cudaStream_t stream,
                   const LatticeSteps& steps) {
  constexpr std::size_t kWithoutAsking = std::size_t{48} << 10;
  if (grid.memory > kWithoutAsking) {
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(grid.memory)),
          "cudaFuncSetAttribute");
  }
  cudaLaunchConfig_t config{};
  config.gridDim = static_cast<unsigned>(grid.blocks);
  config.blockDim = static_cast<unsigned>(grid.threads);
  config.dynamicSmemBytes = grid.memory;
  config.stream = stream;
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {static_cast<unsigned>(grid.cluster), 1, 1};
  config.attrs = &cluster;
  config.numAttrs = grid.cluster > 1;
  check(cudaLaunchKernelEx(&config, kernel, steps), "launch of a lattice's steps");
}

template <class Sampler, class Kind, class Team, int kOwn, bool kAligned, int kMostThreads,
          int kAtOnce>
void launch_large(cudaStream_t stream, const LatticeSteps& steps) {
  const int needed = (steps.shape.words / Team::kBlocks + kOwn - 1) / kOwn;
  launch(lattice<Sampler, Kind, Team, kOwn, kAligned, kMostThreads, kAtOnce>,
         {steps.chains * Team::kBlocks, (needed + kWarp - 1) / kWarp * kWarp,
          LatticeMemory::bytes<Kind>(steps.shape), Team::kBlocks},
         stream, steps);
}

inline int multiprocessors() {
  int device = 0, count = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device),
        "cudaDeviceGetAttribute");
  return count;
}

// Whether there are so few chains that two blocks for each have room at once, each with warps of
// two words a thread, and whether the code for this GPU has clusters.
inline bool takes_pairs(void (*kernel)(LatticeSteps), const LatticeSteps& steps) {
  if (steps.shape.words % (4 * kWarp) != 0) return false;
  static const int room = multiprocessors() / ClusterTeam::kBlocks;
  cudaFuncAttributes code{};
  check(cudaFuncGetAttributes(&code, kernel), "cudaFuncGetAttributes");
  return steps.chains <= room && code.ptxVersion >= 90;
}

}  // namespace lattice_launch

// Sampler has device functions `large`, `small` and (where `kLone`) `lone` that make all steps of a
// chain, and the type Entry of the table that `small` takes.
template <class Sampler, class Kind>
void launch_kind(cudaStream_t stream, const LatticeSteps& steps) {
  using namespace lattice_launch;
  const LatticeShape& shape = steps.shape;
  if (shape.words == 1) {
    if constexpr (Sampler::kLone) {
      if (steps.chains >= kManyChains) {
        const int threads = steps.chains <= kLongBlocks ? kWarp : 4 * kWarp;
        return launch(lone_lattice<Sampler, Kind>,
                      {(steps.chains + threads - 1) / threads, threads}, stream, steps);
      }
    }
    const int warps = steps.chains <= kFewChains ? 1 : 8;
    return launch(small_lattice<Sampler, Kind>, {(steps.chains + warps - 1) / warps, kWarp * warps},
                  stream, steps);
  }
  if (shape.words <= kThreads) {
    return launch_large<Sampler, Kind, BlockTeam, 1, false, kThreads, 3>(stream, steps);
  }
  if constexpr (Kind::kFour) {
    if (shape.aligned()) {
      constexpr auto kOfPairs = lattice<Sampler, Kind, ClusterTeam, 2, true, kThreadsOfFour, 1>;
      if (takes_pairs(kOfPairs, steps)) {
        return launch_large<Sampler, Kind, ClusterTeam, 2, true, kThreadsOfFour, 1>(stream, steps);
      }
      return launch_large<Sampler, Kind, BlockTeam, 4, true, kThreadsOfFour, 1>(stream, steps);
    }
  }
  launch_large<Sampler, Kind, BlockTeam, 4, false, kThreadsOfFour, 1>(stream, steps);
}

}  // namespace saltus::cuda
