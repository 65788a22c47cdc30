#include "cuda/chains/step_kernels.hpp"
#include "saltus/cuda/check.hpp"

namespace saltus::cuda {
namespace {

template <void (*pass)(const BlockTeam&, const ChainArrays&, const Control&, int, int)>
__global__ void __launch_bounds__(kTeam)
    on_each_chain(ChainArrays chains, const Control* control, int offset) {
  __shared__ BlockTeam::Memory memory;
  const Control here = *control;
  pass(BlockTeam(memory), chains, here, offset, static_cast<int>(blockIdx.x));
}

// In the order of Pass.
using OnEachChain = void (*)(ChainArrays, const Control*, int);
constexpr OnEachChain kPasses[] = {
    on_each_chain<propose_langevin<BlockTeam>>,     on_each_chain<accept_langevin<BlockTeam>>,
    on_each_chain<move_langevin<false, BlockTeam>>, on_each_chain<move_langevin<true, BlockTeam>>,
    on_each_chain<record_langevin<BlockTeam>>,      on_each_chain<propose_site<BlockTeam>>,
    on_each_chain<accept_site<BlockTeam>>,          on_each_chain<propose_gibbs<BlockTeam>>,
    on_each_chain<settle_gibbs<BlockTeam>>,         on_each_chain<start_way<BlockTeam>>};

__global__ void move_on_kernel(Control* control, int steps) {
  control->step += static_cast<std::uint64_t>(steps);
  control->slot += static_cast<std::uint32_t>(steps);
}

__global__ void weigh_kernel(ChainArrays chains, const Control* control, std::uint32_t move) {
  const int r = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (r < chains.chains) weigh(chains, *control, r, move);
}

__global__ void levels_to_values_kernel(TwoLevels levels, std::size_t count, const Symbol* from,
                                        float* to) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < count) to[i] = from[i] ? levels.high : levels.low;
}

__global__ void values_to_levels_kernel(TwoLevels levels, std::size_t count, const float* from,
                                        Symbol* to) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < count) to[i] = levels.upper(from[i]);
}

constexpr unsigned kThreads = 256;

unsigned blocks_for(std::size_t count) {
  return static_cast<unsigned>((count + kThreads - 1) / kThreads);
}

std::size_t entries(const TwoLevels& levels, int rows) {
  return static_cast<std::size_t>(levels.dim) * static_cast<std::size_t>(rows);
}

}  // namespace

void Launch::each_chain(Pass pass, int offset) const {
  kPasses[static_cast<int>(pass)]<<<static_cast<unsigned>(chains.chains), kTeam, 0, stream>>>(
      chains, control, offset);
  check(cudaGetLastError(), "launch of a step's kernel");
}

void Launch::move_on(int steps) const {
  move_on_kernel<<<1, 1, 0, stream>>>(control, steps);
  check(cudaGetLastError(), "launch of move_on");
}

void Launch::weigh(std::uint32_t move) const {
  const auto blocks = blocks_for(static_cast<std::size_t>(chains.chains));
  weigh_kernel<<<blocks, kThreads, 0, stream>>>(chains, control, move);
  check(cudaGetLastError(), "launch of weigh");
}

void Launch::put_levels(const Symbol* levels) const {
  levels_to_values(stream, chains.levels, chains.chains, levels, chains.x);
}

void Launch::get_levels(Symbol* levels) const {
  const std::size_t count = entries(chains.levels, chains.chains);
  values_to_levels_kernel<<<blocks_for(count), kThreads, 0, stream>>>(chains.levels, count,
                                                                      chains.x, levels);
  check(cudaGetLastError(), "launch of values_to_levels");
}

void levels_to_values(cudaStream_t stream, const TwoLevels& levels, int rows, const Symbol* from,
                      float* to) {
  const std::size_t count = entries(levels, rows);
  levels_to_values_kernel<<<blocks_for(count), kThreads, 0, stream>>>(levels, count, from, to);
  check(cudaGetLastError(), "launch of levels_to_values");
}

bool kernels_fit() {
  cudaFuncAttributes ignored;
  const bool fit = cudaFuncGetAttributes(&ignored, move_on_kernel) == cudaSuccess;
  cudaGetLastError();  // no later check shall find it
  return fit;
}

void load_kernels() {
  cudaFuncAttributes ignored;
  for (const OnEachChain pass : kPasses) {
    check(cudaFuncGetAttributes(&ignored, pass), "cudaFuncGetAttributes");
  }
  check(cudaFuncGetAttributes(&ignored, move_on_kernel), "cudaFuncGetAttributes");
}

}  // namespace saltus::cuda
