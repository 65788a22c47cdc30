// TorchModule, and how the program gets at it.
#include "saltus/torch/module.hpp"

#include <ATen/ATen.h>
#include <torch/version.h>

#include "torch/default_model.hpp"
#include "torch/devices.hpp"
#include "torch/infill_target.hpp"
#include "torch/resnet_learning.hpp"
#include "torch/resnet_target.hpp"
#include "torch/script_target.hpp"

namespace saltus {
namespace {

class Module final : public TorchModule {
 public:
  std::string version() const override { return TORCH_VERSION; }
  bool has_cuda() const override { return at::hasCUDA(); }
  BertFiles default_bert() const override { return embedded_bert(); }

  std::unique_ptr<Target> script(const std::filesystem::path& file, const Domain& domain,
                                 const DeviceChoice& choice) const override {
    return make_script_target(file, domain, choice);
  }

  std::unique_ptr<Target> resnet(ResnetEnergy energy, const DeviceChoice& choice) const override {
    return make_resnet_target(std::make_shared<const ResnetTensors>(energy, tensor_device(choice)),
                              choice);
  }

  std::unique_ptr<LearningNetwork> learn_resnet(ResnetEnergy start, const NetworkLearning& options,
                                                const DeviceChoice& choice) const override {
    return make_resnet_learning(start, options, choice);
  }

  std::shared_ptr<const MaskedModel> load_masked_model(BertFiles bert,
                                                       const DeviceChoice& choice) const override {
    return make_masked_model(std::move(bert), choice);
  }

  std::unique_ptr<InfillTarget> infill(std::shared_ptr<const MaskedModel> masked_model,
                                       const InfillProblem& problem,
                                       const AllowedPieces& allowed) const override {
    return make_infill_target(std::move(masked_model), problem, allowed);
  }
};

}  // namespace
}  // namespace saltus

extern "C" {
__attribute__((visibility("default"))) const char* saltus_torch_version() {
  return SALTUS_VERSION;
}
__attribute__((visibility("default"))) const saltus::TorchModule* saltus_torch_module() {
  static const saltus::Module module;
  return &module;
}
}
