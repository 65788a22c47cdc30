// The parts of saltus that need libtorch. They are a module that is loaded when first asked for,
// because loading libtorch takes half a second; and a build without libtorch has everything else.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "saltus/core/device.hpp"
#include "saltus/learn/adam.hpp"
#include "saltus/learn/learning_network.hpp"
#include "saltus/target/resnet_energy.hpp"
#include "saltus/target/target.hpp"
#include "saltus/text/infill.hpp"

namespace saltus {

struct NetworkLearning {
  AdamOptions adam;  // its rate is not used: every update has its own
  double average_decay = 0.999;
  double energy_penalty = 0;  // c in LearningNetwork::update
  int threads = 0;            // of updates on the processor; 0: all cores. Never changes a result
};

class TorchModule {
 public:
  virtual ~TorchModule() = default;

  virtual std::string version() const = 0;     // of libtorch, for reports
  virtual bool has_cuda() const = 0;           // libtorch can use a GPU
  virtual BertFiles default_bert() const = 0;  // the masked language model that is built in

  // A TorchScript file whose forward takes a float tensor (chains, dim) of the domain's values, or
  // (chains, dim, levels) one-hot when the domain is categorical, and returns log p, one per chain.
  // Throws FileError and DataError saying what was expected and what came. What a script throws
  // later, in a run, ends the run with a ComputationError; it may return nan, or -inf, for states
  // that are not to be reached.
  virtual std::unique_ptr<Target> script(const std::filesystem::path& file, const Domain& domain,
                                         const DeviceChoice& choice) const = 0;

  virtual std::unique_ptr<Target> resnet(ResnetEnergy energy, const DeviceChoice& choice) const = 0;
  virtual std::unique_ptr<LearningNetwork> learn_resnet(ResnetEnergy start,
                                                        const NetworkLearning& options,
                                                        const DeviceChoice& choice) const = 0;

  // The gaps of a sentence under a masked language model, which is loaded on the device once for
  // all sentences.
  virtual std::shared_ptr<const MaskedModel> load_masked_model(
      BertFiles bert, const DeviceChoice& choice) const = 0;
  virtual std::unique_ptr<InfillTarget> infill(std::shared_ptr<const MaskedModel> masked_model,
                                               const InfillProblem& problem,
                                               const AllowedPieces& allowed) const = 0;
};

// Loads the module on the first call. Throws UsageError saying what is missing, in a sentence with
// `wanted_by`, "the model resnet-ebm" say. It is looked for at SALTUS_TORCH_MODULE (environment),
// beside the program, and in ../lib/saltus from there. A program that is linked with saltus::torch
// has it without looking.
const TorchModule& torch_module(const std::string& wanted_by = "what was asked for");

// From then on torch_module() returns `module`, which must live on.
void register_torch_module(const TorchModule& module);

}  // namespace saltus
