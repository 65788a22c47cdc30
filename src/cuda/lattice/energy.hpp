// Log p and score of an Ising lattice on a GPU, for samplers without a kernel of their own.
#pragma once

#include "cuda/lattice/planes.hpp"
#include "saltus/cuda/device_energy.hpp"
#include "saltus/model/models.hpp"

namespace saltus::cuda {

class LatticeEnergy final : public DeviceEnergy {
 public:
  explicit LatticeEnergy(const LatticeModel& model)
      : shape_(model.shape[0], model.shape[1], model.periodic),
        a_(model.a),
        b_(model.b),
        constant_(model.constant) {}

  void prepare(int) override {}
  void evaluate(cudaStream_t stream, const float* values, int rows, double* logp,
                float* score) override;

 private:
  LatticeShape shape_;
  double a_, b_, constant_;
};

}  // namespace saltus::cuda
