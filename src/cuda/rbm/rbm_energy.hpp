// log p and score of a restricted Boltzmann machine (see saltus/target/rbm.hpp) on the GPU.
// Products are in single precision, log p is summed in double.
#pragma once

#include "saltus/cuda/device_energy.hpp"
#include "saltus/cuda/memory.hpp"
#include "saltus/target/rbm.hpp"

namespace saltus::cuda {

class RbmEnergy final : public DeviceEnergy {
 public:
  explicit RbmEnergy(const RbmModel& model);

  void prepare(int rows) override;
  void evaluate(cudaStream_t stream, const float* values, int rows, double* logp,
                float* score) override;

 private:
  int visible_, hidden_;
  DeviceArray<float> by_visible_, by_hidden_;  // weights of each unit in a row, padded with zeros
  DeviceArray<float> visible_bias_, hidden_bias_;
  DeviceArray<double> visible_bias_exact_;
  DeviceArray<float> activations_;  // of the hidden units
  DeviceArray<double> parts_;       // of log p, by row and block of hidden units
};

}  // namespace saltus::cuda
