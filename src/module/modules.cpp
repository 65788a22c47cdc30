// The parts with CUDA and with libtorch.
#include "module/part.hpp"
#include "saltus/core/error.hpp"
#include "saltus/cuda/module.hpp"
#include "saltus/torch/module.hpp"

#ifndef SALTUS_HAVE_CUDA
#define SALTUS_HAVE_CUDA 0
#endif
#ifndef SALTUS_HAVE_TORCH
#define SALTUS_HAVE_TORCH 0
#endif

namespace saltus {
namespace {

Part<CudaModule>& cuda_part() {
  static Part<CudaModule> cuda({"cuda", "SALTUS_CUDA_MODULE", "CUDA", SALTUS_HAVE_CUDA,
                                "install NVIDIA's CUDA toolkit (nvcc and cuBLAS)"});
  return cuda;
}

Part<TorchModule>& torch_part() {
  static Part<TorchModule> torch(
      {"torch", "SALTUS_TORCH_MODULE", "libtorch", SALTUS_HAVE_TORCH, "install libtorch-dev"});
  return torch;
}

}  // namespace

const CudaModule& cuda_module(const std::string& wanted_by) {
  return cuda_part().get(wanted_by);
}

void register_cuda_module(const CudaModule& module) {
  cuda_part().set(module);
}

std::string gpu_name() {
  try {
    return cuda_module().gpu_name();
  } catch (const UsageError&) {
    return "";
  }
}

const TorchModule& torch_module(const std::string& wanted_by) {
  return torch_part().get(wanted_by);
}

void register_torch_module(const TorchModule& module) {
  torch_part().set(module);
}

}  // namespace saltus
