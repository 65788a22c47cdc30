#include "cuda/lattice/energy.hpp"

#include "saltus/cuda/check.hpp"

namespace saltus::cuda {
namespace {

constexpr int kThreads = 256, kWarp = 32;

struct Constants {
  double a, b, constant;
};

__device__ int sum_of_neighbours(const LatticeShape& s, const float* v, int i) {
  const int r = i / s.cols, c = i % s.cols;
  float sum = 0;
  if (r > 0 || s.row_wraps) sum += v[r > 0 ? i - s.cols : i + s.sites - s.cols];
  if (r + 1 < s.rows || s.row_wraps) sum += v[r + 1 < s.rows ? i + s.cols : c];
  if (c > 0 || s.col_wraps) sum += v[c > 0 ? i - 1 : i + s.cols - 1];
  if (c + 1 < s.cols || s.col_wraps) sum += v[c + 1 < s.cols ? i + 1 : i - c];
  return static_cast<int>(sum);
}

// A block for each row of values. The sums are integers, exact in any order.
__global__ void __launch_bounds__(kThreads)
    evaluate_lattice(LatticeShape shape, Constants model, const float* values, double* logp,
                     float* score) {
  __shared__ int sums[2][kThreads / kWarp];
  const std::ptrdiff_t row = static_cast<std::ptrdiff_t>(blockIdx.x) * shape.sites;
  const float* v = values + row;
  const auto a2 = static_cast<float>(2 * model.a), b = static_cast<float>(model.b);
  int pairs = 0, spins = 0;
  for (int i = static_cast<int>(threadIdx.x); i < shape.sites; i += kThreads) {
    const int near = sum_of_neighbours(shape, v, i), spin = static_cast<int>(v[i]);
    pairs += spin * near;
    spins += spin;
    if (score) score[row + i] = __fadd_rn(__fmul_rn(a2, static_cast<float>(near)), b);
  }
  if (!logp) return;
  pairs = __reduce_add_sync(~0u, pairs);
  spins = __reduce_add_sync(~0u, spins);
  if (threadIdx.x % kWarp == 0) {
    sums[0][threadIdx.x / kWarp] = pairs;
    sums[1][threadIdx.x / kWarp] = spins;
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  pairs = spins = 0;
  for (int w = 0; w < kThreads / kWarp; ++w) pairs += sums[0][w], spins += sums[1][w];
  logp[blockIdx.x] =
      __dadd_rn(__dadd_rn(__dmul_rn(model.a, pairs), __dmul_rn(model.b, spins)), model.constant);
}

}  // namespace

void LatticeEnergy::evaluate(cudaStream_t stream, const float* values, int rows, double* logp,
                             float* score) {
  evaluate_lattice<<<static_cast<unsigned>(rows), kThreads, 0, stream>>>(
      shape_, {a_, b_, constant_}, values, logp, score);
  check(cudaGetLastError(), "launch of a lattice's energy");
}

}  // namespace saltus::cuda
