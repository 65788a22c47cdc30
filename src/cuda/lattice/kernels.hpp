// Launches of the kernels of langevin.hpp and gibbs.hpp: all steps of a block, for all chains, in
// one of them.
#pragma once

#include <cuda_runtime_api.h>

#include "cuda/lattice/steps.hpp"

namespace saltus::cuda {

// Whether there are kernels for a lattice of this shape: at most 65,536 sites.
bool lattice_fits(const LatticeShape& shape);

// `field`: LatticeParameters::field of the law.
void launch_langevin(cudaStream_t stream, const LatticeSteps& steps, bool field, bool adjust);
void launch_gibbs(cudaStream_t stream, const LatticeSteps& steps);

}  // namespace saltus::cuda
