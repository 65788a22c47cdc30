#include "torch/devices.hpp"

#include <ATen/Context.h>

#include "saltus/core/error.hpp"

namespace saltus {

at::Device tensor_device(const DeviceChoice& choice) {
  const Precision precision =
      choice.precision.value_or(choice.device == Device::cpu ? Precision::single : Precision::half);
  if (choice.device == Device::cpu) {
    if (precision != Precision::single) {
      throw UsageError(
          "the processor computes in single precision; tf32 and half need the device "
          "cuda");
    }
    return at::kCPU;
  }
  if (!at::hasCUDA()) {
    throw UsageError("the device cuda cannot be used: libtorch finds no GPU, or has no CUDA");
  }
  // Unless told, libtorch takes TF32 for convolutions.
  at::globalContext().setAllowTF32CuBLAS(precision != Precision::single);
  at::globalContext().setAllowTF32CuDNN(precision != Precision::single);
  // The same input gives the same bits, in this run and in the next.
  at::globalContext().setBenchmarkCuDNN(false);
  at::globalContext().setDeterministicCuDNN(true);
  return at::Device(at::kCUDA, 0);
}

}  // namespace saltus
