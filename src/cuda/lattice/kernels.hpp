// Launches of the kernels of steps.hpp: all steps of a block, for all chains, in one of them.
#pragma once

#include <cuda_runtime_api.h>

#include "cuda/lattice/steps.hpp"

namespace saltus::cuda {

// Whether there is a kernel for a lattice of this shape: at most 65,536 sites.
bool lattice_fits(const LatticeShape& shape);

// `adjust`: DMALA, otherwise DULA. `field` is the one that the law's tables were made for.
void launch_lattice(cudaStream_t stream, const LatticeSteps& steps, bool field, bool adjust);

}  // namespace saltus::cuda
