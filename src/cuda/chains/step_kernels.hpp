// Launches of the kernels of chain_steps.hpp: a block of threads for every chain. They only enqueue
// on the stream, so that they can be captured into a graph.
#pragma once

#include <cuda_runtime_api.h>

#include "cuda/chains/chain_steps.hpp"
#include "cuda/chains/served.hpp"

namespace saltus::cuda {

// What is launched, for step number `offset` of a graph. `control` lies in device memory.
struct Launch {
  ChainArrays chains;
  Control* control;
  cudaStream_t stream;

  void each_chain(Pass pass, int offset) const;
  void move_on(int steps) const;  // at the end of a graph: its steps are done
  void weigh(std::uint32_t move) const;

  // Levels, rows contiguous, to values x and back.
  void put_levels(const Symbol* levels) const;
  void get_levels(Symbol* levels) const;
};

void levels_to_values(cudaStream_t stream, const TwoLevels& levels, int rows, const Symbol* from,
                      float* to);

// Whether this build has kernels for the GPU of this machine.
bool kernels_fit();

// A kernel's first launch loads it, which must not happen while a graph is captured.
void load_kernels();

}  // namespace saltus::cuda
