// A target whose log p and score are computed on the GPU, where chains can stay.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "saltus/cuda/device_energy.hpp"
#include "saltus/target/target.hpp"

namespace saltus::cuda {

class CudaTarget : public Target, public OnDevice {
 public:
  // Throws UsageError unless all coordinates have two levels.
  CudaTarget(std::string name, const Domain& domain, std::vector<int> shape,
             std::shared_ptr<DeviceEnergy> energy);
  ~CudaTarget() override;

  std::string name() const override { return name_; }
  const Domain& domain() const override { return domain_; }
  std::vector<int> shape() const override { return shape_; }
  // For samplers that the GPU does not serve: states go there and results come back at every call.
  void evaluate(const At& at, Rows<const Symbol> x, double* logp, Rows<float> score) const override;
  bool stochastic() const override;
  int preferred_tile() const override { return 4096; }

  const OnDevice* on_device() const override { return this; }
  std::unique_ptr<DeviceChains> make_chains(int chains, std::uint64_t seed) const override;

 private:
  struct Staging;
  void evaluate_some(Rows<const Symbol> x, double* logp, Rows<float> score) const;

  std::string name_;
  Domain domain_;
  std::vector<int> shape_;
  std::unique_ptr<Staging> staging_;
};

}  // namespace saltus::cuda
