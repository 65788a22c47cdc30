// The conversions of saltus::Rows, which device code does not use.
#pragma nv_diag_suppress 554
#include "cuda/chains/step_kernels.hpp"
#include "saltus/cuda/check.hpp"

namespace saltus::cuda {
namespace {

// The steps of chain_steps.hpp as types, for one kernel template.
#define SALTUS_BODY(Name, function)                                                           \
  struct Name {                                                                               \
    static __device__ void run(const BlockTeam& team, const ChainArrays& c, const Control& k, \
                               int offset, int r) {                                           \
      function(team, c, k, offset, r);                                                        \
    }                                                                                         \
  }
SALTUS_BODY(ProposeLangevin, propose_langevin);
SALTUS_BODY(AcceptLangevin, accept_langevin);
SALTUS_BODY(RecordLangevin, record_langevin);
SALTUS_BODY(ProposeSite, propose_site);
SALTUS_BODY(AcceptSite, accept_site);
SALTUS_BODY(ProposeGibbs, propose_gibbs);
SALTUS_BODY(SettleGibbs, settle_gibbs);
#undef SALTUS_BODY

template <bool last>
struct MoveLangevin {
  static __device__ void run(const BlockTeam& team, const ChainArrays& c, const Control& k,
                             int offset, int r) {
    move_langevin(team, c, k, offset, r, last);
  }
};

struct StartWay {
  static __device__ void run(const BlockTeam& team, const ChainArrays& c, const Control& k, int,
                             int r) {
    start_way(team, c, k, r);
  }
};

template <class Body>
__global__ void __launch_bounds__(kTeam)
    on_each_chain(ChainArrays chains, const Control* control, int offset) {
  __shared__ BlockTeam::Memory memory;
  const Control here = *control;
  Body::run(BlockTeam(memory), chains, here, offset, static_cast<int>(blockIdx.x));
}

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

template <class Body>
void launch(const Launch& l, int offset) {
  on_each_chain<Body>
      <<<static_cast<unsigned>(l.chains.chains), kTeam, 0, l.stream>>>(l.chains, l.control, offset);
  check(cudaGetLastError(), "launch of a step's kernel");
}

constexpr unsigned kThreads = 256;

unsigned blocks_for(std::size_t count) {
  return static_cast<unsigned>((count + kThreads - 1) / kThreads);
}

std::size_t entries(const TwoLevels& levels, int rows) {
  return static_cast<std::size_t>(levels.dim) * static_cast<std::size_t>(rows);
}

}  // namespace

void Launch::propose_langevin(int offset) const {
  launch<ProposeLangevin>(*this, offset);
}
void Launch::accept_langevin(int offset) const {
  launch<AcceptLangevin>(*this, offset);
}
void Launch::move_langevin(int offset, bool last) const {
  last ? launch<MoveLangevin<true>>(*this, offset) : launch<MoveLangevin<false>>(*this, offset);
}
void Launch::record_langevin(int offset) const {
  launch<RecordLangevin>(*this, offset);
}
void Launch::propose_site(int offset) const {
  launch<ProposeSite>(*this, offset);
}
void Launch::accept_site(int offset) const {
  launch<AcceptSite>(*this, offset);
}
void Launch::propose_gibbs(int offset) const {
  launch<ProposeGibbs>(*this, offset);
}
void Launch::settle_gibbs(int offset) const {
  launch<SettleGibbs>(*this, offset);
}
void Launch::start_way() const {
  launch<StartWay>(*this, 0);
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

namespace {

template <class... Bodies>
void load_bodies() {
  cudaFuncAttributes ignored;
  (check(cudaFuncGetAttributes(&ignored, on_each_chain<Bodies>), "cudaFuncGetAttributes"), ...);
}

}  // namespace

bool kernels_fit() {
  cudaFuncAttributes ignored;
  const bool fit = cudaFuncGetAttributes(&ignored, move_on_kernel) == cudaSuccess;
  cudaGetLastError();  // no later check shall find it
  return fit;
}

void load_kernels() {
  load_bodies<ProposeLangevin, AcceptLangevin, RecordLangevin, MoveLangevin<true>,
              MoveLangevin<false>, ProposeSite, AcceptSite, ProposeGibbs, SettleGibbs, StartWay>();
  cudaFuncAttributes ignored;
  check(cudaFuncGetAttributes(&ignored, move_on_kernel), "cudaFuncGetAttributes");
}

}  // namespace saltus::cuda
