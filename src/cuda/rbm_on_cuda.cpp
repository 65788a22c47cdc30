#include "cuda/rbm_on_cuda.hpp"

#include "cuda/cuda_target.hpp"
#include "cuda/rbm_energy.hpp"

namespace saltus::cuda {

std::unique_ptr<Target> rbm_on_cuda(const Rbm& rbm) {
  const RbmModel& m = rbm.model();
  return std::make_unique<CudaTarget>(
      rbm.name(), rbm.domain(), rbm.shape(),
      std::make_shared<RbmEnergy>(m.weights, m.visible_bias, m.hidden_bias));
}

}  // namespace saltus::cuda
