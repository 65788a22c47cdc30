// The threads that work on one chain together: a block of a GPU or, for tests, the one thread of
// the host. Sums are taken in a fixed order, so that they do not depend on the run.
#pragma once

#include <cstddef>

#include "saltus/core/both.hpp"

namespace saltus::cuda {

// A team of one.
struct HostTeam {
  int rank() const { return 0; }
  int size() const { return 1; }
  template <std::size_t n>
  void sum(double (&)[n]) const {}
  float max(float v) const { return v; }
  int min(int v) const { return v; }
  // The sums of `own` over the members before this one, and up to it.
  double before(double own, double& up_to) const {
    up_to = own;
    return 0;
  }
  // What member `from` has.
  int share(int v, int /*from*/) const { return v; }
};

#ifdef __CUDACC__

inline constexpr int kWarp = 32, kTeam = 256, kWarps = kTeam / kWarp;

// A block of kTeam threads. Every member must make every call, and each returns the same to all.
class BlockTeam {
 public:
  struct Memory {
    double values[kTeam];
    int integer;
  };
  __device__ explicit BlockTeam(Memory& memory) : memory_(memory) {}

  __device__ int rank() const { return static_cast<int>(threadIdx.x); }
  __device__ int size() const { return kTeam; }

  // Lanes by halving distances, then warps in turn.
  template <std::size_t n>
  __device__ void sum(double (&v)[n]) const {
    static_assert(n * kWarps <= kTeam);
    for (std::size_t k = 0; k < n; ++k) {
      for (int d = kWarp / 2; d > 0; d /= 2) v[k] += __shfl_xor_sync(~0u, v[k], d);
    }
    __syncthreads();
    if (rank() % kWarp == 0) {
      for (std::size_t k = 0; k < n; ++k) memory_.values[k * kWarps + rank() / kWarp] = v[k];
    }
    __syncthreads();
    for (std::size_t k = 0; k < n; ++k) {
      v[k] = 0;
      for (int w = 0; w < kWarps; ++w) v[k] += memory_.values[k * kWarps + w];
    }
  }

  __device__ float max(float v) const {
    return best(v, [](float a, float b) { return fmaxf(a, b); });
  }
  __device__ int min(int v) const {
    return best(v, [](int a, int b) { return ::min(a, b); });
  }

  __device__ double before(double own, double& up_to) const {
    const int lane = rank() % kWarp, warp = rank() / kWarp;
    double v = own;
    for (int d = 1; d < kWarp; d *= 2) {
      const double below = __shfl_up_sync(~0u, v, d);
      if (lane >= d) v += below;
    }
    __syncthreads();
    if (lane == kWarp - 1) memory_.values[warp] = v;
    __syncthreads();
    double earlier = 0;
    for (int w = 0; w < warp; ++w) earlier += memory_.values[w];
    up_to = earlier + v;
    __syncthreads();
    memory_.values[rank()] = up_to;
    __syncthreads();
    return rank() == 0 ? 0 : memory_.values[rank() - 1];
  }

  __device__ int share(int v, int from) const {
    __syncthreads();
    if (rank() == from) memory_.integer = v;
    __syncthreads();
    return memory_.integer;
  }

 private:
  template <class T, class Better>
  __device__ T best(T v, const Better& better) const {
    for (int d = kWarp / 2; d > 0; d /= 2) v = better(v, __shfl_xor_sync(~0u, v, d));
    __syncthreads();
    if (rank() % kWarp == 0) memory_.values[rank() / kWarp] = static_cast<double>(v);
    __syncthreads();
    for (int w = 0; w < kWarps; ++w) v = better(v, static_cast<T>(memory_.values[w]));
    return v;
  }

  Memory& memory_;
};

#endif

}  // namespace saltus::cuda
