// The paper's residual network on a GPU, as one kernel for log p and score. Operands of products
// are in half precision, sums in single; log p is a function of the state alone, bit for bit, so
// that the Metropolis test is exact for the distribution that it defines.
#pragma once

#include <vector>

#include "saltus/cuda/device_energy.hpp"
#include "saltus/cuda/memory.hpp"
#include "saltus/target/resnet_energy.hpp"

namespace saltus::cuda {

class FusedResnet final : public DeviceEnergy {
 public:
  // Whether there is a kernel for this network, in this build (architecture 90a) and on this GPU
  // (compute capability 9).
  static bool serves(const ResnetShape& shape);

  explicit FusedResnet(const ResnetEnergy& energy);

  // Puts other parameters into force, given in device memory, and waits until they are. What was
  // captured stays valid.
  void load(const float* parameters);

  void prepare(int rows) override;
  void evaluate(cudaStream_t stream, const float* values, int rows, double* logp,
                float* score) override;

 private:
  DeviceArray<std::uint8_t> weights_, scratch_;
  DeviceArray<float> bias_, base_logit_;
  double base_constant_ = 0;
};

}  // namespace saltus::cuda
