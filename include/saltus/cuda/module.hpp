// The part of saltus that runs on NVIDIA GPUs, without libtorch. It is a module that is loaded when
// first asked for, so that a program starts quickly and runs on machines that have no CUDA.
#pragma once

#include <memory>
#include <string>

#include "saltus/target/target.hpp"

namespace saltus {

class CudaModule {
 public:
  virtual ~CudaModule() = default;

  virtual std::string gpu_name() const = 0;  // empty: there is no GPU

  // The same distribution as `target` on the GPU, with its parameters of now. Throws UsageError
  // when no GPU can be used, and for targets that have no version there (see cuda/models.hpp).
  virtual std::unique_ptr<Target> on_device(const Target& target) const = 0;
};

// Loads the module on the first call. Throws UsageError saying what is missing, in a sentence with
// `wanted_by`, "the device cuda" say. It is looked for at SALTUS_CUDA_MODULE (environment), beside
// the program, and in ../lib/saltus from there. A program that is linked with saltus::cuda has it
// without looking.
const CudaModule& cuda_module(const std::string& wanted_by = "the device cuda");

// From then on cuda_module() returns `module`, which must live on.
void register_cuda_module(const CudaModule& module);

// The name of the GPU; empty where there is none, or no module for it.
std::string gpu_name();

}  // namespace saltus
