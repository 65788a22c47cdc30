#include "cuda/gpu.hpp"

#include <cuda_runtime_api.h>

#include "cuda/chains/step_kernels.hpp"
#include "saltus/core/error.hpp"
#include "saltus/cuda/check.hpp"

namespace saltus::cuda {
namespace {

cudaDeviceProp properties() {
  int device = 0;
  cudaDeviceProp found{};
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaGetDeviceProperties(&found, device), "cudaGetDeviceProperties");
  return found;
}

}  // namespace

std::string gpu_name() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) return "";
  return properties().name;
}

void require_gpu() {
  int count = 0;
  if (const cudaError_t status = cudaGetDeviceCount(&count); status != cudaSuccess || count == 0) {
    throw UsageError(std::string("the device cuda cannot be used: no NVIDIA GPU was found (") +
                     cudaGetErrorString(status) + ")");
  }
  if (kernels_fit()) return;
  const cudaDeviceProp gpu = properties();
  // Hopper's own instructions go by the name 90a.
  const std::string capability =
      std::to_string(gpu.major) + std::to_string(gpu.minor) + (gpu.major == 9 ? "a" : "");
  throw UsageError(std::string("the device cuda cannot be used: this saltus was built for the GPU "
                               "architectures " SALTUS_CUDA_ARCHITECTURES ", and ") +
                   gpu.name + " is " + capability +
                   "; build it with -DCMAKE_CUDA_ARCHITECTURES=" + capability);
}

}  // namespace saltus::cuda
