// TorchModule: each function is defined in the file of its subject.
#pragma once

#include "saltus/torch/module.hpp"

namespace saltus {

class LibtorchModule final : public TorchModule {
 public:
  std::string version() const override;
  bool has_cuda() const override;
  // That of models/mlm-tiny, whose files are part of the binary.
  BertFiles default_bert() const override;
  std::unique_ptr<Target> script(const std::filesystem::path& file, const Domain& domain,
                                 const DeviceChoice& choice) const override;
  std::unique_ptr<Target> resnet(ResnetEnergy energy, const DeviceChoice& choice) const override;
  std::unique_ptr<LearningNetwork> learn_resnet(ResnetEnergy start, const NetworkLearning& options,
                                                const DeviceChoice& choice) const override;
  std::shared_ptr<const MaskedModel> load_masked_model(BertFiles bert,
                                                       const DeviceChoice& choice) const override;
  std::unique_ptr<InfillTarget> infill(std::shared_ptr<const MaskedModel> masked_model,
                                       const InfillProblem& problem,
                                       const AllowedPieces& allowed) const override;
};

}  // namespace saltus
