// The fused kernel of the residual network: f and its gradient, one image per thread block.
#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime_api.h>

#include <cstdint>

namespace saltus::cuda::resnet {

struct Arguments {
  const std::uint8_t* weights;  // Order::end blocks
  const float* bias;            // Bias::count numbers
  const float* base_logit;      // kPixels
  double base_constant;
  const float* values;  // rows of kPixels
  int rows;
  double* logp;    // null: not wanted
  float* score;    // rows of kPixels; null: not wanted
  uint4* scratch;  // scratch_bytes_per_row() for each row, where a score is wanted
};

std::size_t scratch_bytes_per_row();
cudaError_t launch(const Arguments& arguments, cudaStream_t stream);

// Puts parameters, in the order of ResnetEnergy::parameters, into the form above.
cudaError_t pack(const float* parameters, std::uint8_t* weights, float* bias, cudaStream_t stream);

}  // namespace saltus::cuda::resnet
