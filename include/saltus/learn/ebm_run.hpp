// A deep energy that learns in a folder of its own. The folder holds
//   checkpoint           all that is needed to go on
//   last.json, best.json the averaged parameters now, and those with the best validation
//   history.csv          loss, acceptance, ... every hundred iterations
//   validation.csv       the validations
//   samples-NNNNNN.png   chains of the buffer at every validation; samples.png: at the end
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "saltus/learn/ebm_learning.hpp"
#include "saltus/run/checkpoint.hpp"
#include "saltus/sampler/registry.hpp"
#include "saltus/target/resnet_energy.hpp"

namespace saltus {

struct EbmSetup {
  ResnetShape shape;
  std::string sampler = "dmala";
  Settings settings;
  EbmPlan plan;
  std::filesystem::path folder;
  double checkpoint_every = 120;  // seconds
};

// The settings with what learning, which has no warm-up to tune in, takes where it is not given:
// the paper's step size, 0.15 for dmala and 0.1 for dula, and one flip for gwg.
Settings learning_settings(const std::string& sampler, Settings settings);

// The sampler of the validations: that of the learning where it is exact and uses the gradient.
// Otherwise dmala, with the step size of the learning where dula has one. DULA would bias the
// estimate; Gibbs would see each of 784 pixels 13 times in 10,000 steps, too few to reach the
// model's mass.
std::unique_ptr<Sampler> validator_of(const std::string& sampler, const Settings& settings,
                                      const Target& target);

// From an energy to learn from on: on a device, say.
using NetworkMaker = std::function<std::unique_ptr<LearningNetwork>(ResnetEnergy start)>;

class EbmRun {
 public:
  // The images must outlive it. Throws UsageError and DataError as EbmLearning does.
  EbmRun(EbmSetup setup, const ImageSet& images, const NetworkMaker& make);

  static std::filesystem::path checkpoint_in(const std::filesystem::path& folder) {
    return folder / "checkpoint";
  }
  // Goes on with the folder's checkpoint. Throws DataError when it does not fit, UsageError when
  // more iterations are done than are asked for.
  void restore();

  // What is told of the work, after every iteration and now and then in a validation.
  struct Now {
    const EbmInfo* iteration = nullptr;  // null in a validation,
    double validated = 0;                // of which so much is done
  };
  // Learns until all is done, or until `watch` returns false. True when all is done. Saves now and
  // then, with `description`, and whatever happens at the end. In a team (EbmPlan::team) the leader
  // is asked and writes; a member without chains is done at once.
  bool go(const std::string& description, const std::function<bool(const Now&)>& watch);

  const EbmLearning& learning() const { return *learning_; }
  const EbmSetup& setup() const { return setup_; }
  // The averaged parameters as they are, and at the best validation (as they are before there is
  // one).
  ResnetEnergy last() const { return {setup_.shape, network_->averaged_parameters(), mean_}; }
  ResnetEnergy best() const {
    if (!learning_->best()) return last();
    return {setup_.shape, learning_->best_parameters(), mean_};
  }

 private:
  bool work(const std::string& description, const std::function<bool(const Now&)>& watch);
  bool leads() const { return !learning_->team() || learning_->team()->leads(); }
  void save(const std::string& description, std::span<const std::byte> state) const;
  void write_validated() const;
  void write_models() const;
  void write_tables() const;
  void write_picture(const std::string& name) const;

  EbmSetup setup_;
  std::vector<double> mean_;
  std::unique_ptr<LearningNetwork> network_;
  std::unique_ptr<EbmLearning> learning_;
};

}  // namespace saltus
