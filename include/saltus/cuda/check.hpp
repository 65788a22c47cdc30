// CUDA calls that fail become exceptions.
#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "saltus/core/error.hpp"

namespace saltus::cuda {

inline void check(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  throw ComputationError(std::string("the GPU failed: ") + call + ": " +
                         cudaGetErrorString(status));
}

}  // namespace saltus::cuda
