// log p and score of a restricted Boltzmann machine (see saltus/target/rbm.hpp) on the GPU.
// Products are in single precision, log p is summed in double.
#pragma once

#include <span>

#include "cuda/device_energy.hpp"
#include "cuda/memory.hpp"

namespace saltus::cuda {

class RbmEnergy final : public DeviceEnergy {
 public:
  // `weights` holds hidden rows of visible entries.
  RbmEnergy(std::span<const double> weights, std::span<const double> visible_bias,
            std::span<const double> hidden_bias);

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
