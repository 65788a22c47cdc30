// f of a residual network for many images, and the gradient by its parameters of a sum over them of
//   weight f + penalty |weight| f^2,
// by products of matrices (cuBLAS).
#pragma once

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include <memory>
#include <vector>

#include "cuda/resnet/gradient/steps.hpp"
#include "saltus/cuda/memory.hpp"

namespace saltus::cuda {

class ResnetGradient {
 public:
  static bool serves(const ResnetShape& shape) { return resnet::GradientPlan::serves(shape); }
  // Products round their factors to eleven bits where `tf32`.
  ResnetGradient(const ResnetShape& shape, int images, bool tf32);
  ~ResnetGradient();
  ResnetGradient(const ResnetGradient&) = delete;
  ResnetGradient& operator=(const ResnetGradient&) = delete;

  // All of them in the GPU's memory. The same bits for the same input.
  struct Task {
    const float *parameters, *pixels, *weights;  // pixels of all images, 0 or 1
    float penalty;
    float *f, *gradient;
  };
  // Enqueues the work. The first call must not be captured.
  void enqueue(cudaStream_t stream, const Task& task);

 private:
  class Machine;
  void take_memory();

  resnet::GradientPlan plan_;
  resnet::GradientArrays arrays_;
  std::vector<DeviceArray<float>> memory_;
  DeviceArray<resnet::Convolution> convolutions_;
  float *matrices_ = nullptr, *matrix_slopes_ = nullptr, *features_ = nullptr;
  DeviceArray<std::uint8_t> workspace_;
  cublasComputeType_t precision_;
  cublasHandle_t products_ = nullptr;
};

}  // namespace saltus::cuda
