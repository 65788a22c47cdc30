// Learning a model from data: a restricted Boltzmann machine or an Ising model by contrastive
// divergence (learn), or a deep energy of images (learn_deep).
//
//   LearnRequest request = learn_request("rbm");
//   request.data = rows;
//   const LearnResult result = learn(request);
//   result.model->write("rbm.json");
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "saltus/io/image_set.hpp"
#include "saltus/learn/contrastive_divergence.hpp"
#include "saltus/learn/ebm_run.hpp"
#include "saltus/run/pacer.hpp"
#include "saltus/sampler/registry.hpp"
#include "saltus/torch/module.hpp"

namespace saltus {

struct LearnRequest : Saving {
  // What determines the model; kept in the checkpoint.
  std::string kind = "rbm";  // or ising
  Rows<const Symbol> data;   // rows of 0 and 1, which must outlive the learning
  std::string data_sum;      // of what a checkpoint learned from; other data are refused
  int hidden = 500;          // units of an rbm
  bool fields = false;       // of an ising model: learn them, too
  std::string sampler;
  Settings settings;
  LearningPlan plan;                         // a batch has at most all rows; it names the team
  std::uint64_t iterations = 0, epochs = 0;  // one of them

  // LearnRun::state of an earlier learning, which this one continues with these data; `iterations`
  // and `epochs` count on from there. Empty: from the beginning.
  std::vector<std::byte> before;

  std::map<std::string, std::string> notes;  // the caller's own; a checkpoint keeps them
};

// With the settings of the paper's experiments.
LearnRequest learn_request(const std::string& kind);

// Recent values, and where the time went. A plain value: a checkpoint keeps it.
struct LearnTotals {
  LearningInfo recent;  // means that forget: over about the last 20 iterations
  std::uint64_t iterations = 0;
  double sampling_seconds = 0, gradient_seconds = 0, update_seconds = 0;

  void add(const LearningInfo& info);
  double seconds() const { return sampling_seconds + gradient_seconds + update_seconds; }
};

struct LearnStatus {
  LearnTotals totals;
  std::uint64_t first = 0, planned = 0;  // iterations: done before, and in all
  double seconds = 0;                    // since learning began, or went on
  double validated = -1;                 // in a validation: the part that is done
};

// Told after every iteration; false stops the learning.
using LearnProgress = std::function<bool(const LearnStatus&)>;

struct LearnResult {
  std::shared_ptr<Trainable> model;
  LearnTotals totals;
  double epochs = 0;
  std::vector<Parameter> parameters;  // of the sampler
  bool complete = false;
};

// Throws UsageError, DataError and FileError. In a team all members make the same request; the
// leader saves, and has the result.
LearnResult learn(LearnRequest request, const LearnProgress& progress = {});

// The request that a checkpoint holds, with `resume` set; the data must be given again, and more
// iterations may be asked for.
LearnRequest resumed_learning(const std::string& checkpoint);

// learn() in steps, for callers that look after files between them.
class LearnRun {
 public:
  explicit LearnRun(LearnRequest request);
  // True when all iterations are done, or none of the work is left to this member of the team.
  // Saves now and then, and at the end.
  bool go(const LearnProgress& progress = {});
  void save_to(const std::string& checkpoint);
  void save() const;
  // Parameters, what Adam remembers, and the chains.
  std::vector<std::byte> state() const;
  LearnResult result() const;

  const LearnRequest& request() const { return request_; }
  const Trainable& model() const { return *model_; }

 private:
  void restore();
  void go_on_from(std::span<const std::byte> state, const std::string& source);

  LearnRequest request_;
  std::shared_ptr<Trainable> model_;
  std::unique_ptr<ContrastiveDivergence> learning_;
  LearnTotals totals_;
};

// A deep energy, which learns in a folder of its own (EbmRun). Needs libtorch.
struct DeepRequest {
  const ImageSet* images = nullptr;  // must outlive the learning
  std::string data_sum;              // of what a checkpoint learned from; other images are refused
  EbmSetup setup;                    // the network's height and width follow from the images
  NetworkLearning network;
  DeviceChoice device;
  bool resume = false;  // what the folder holds
  double time_limit = 0;
  std::map<std::string, std::string> notes;  // the caller's own; a checkpoint keeps them
};

// The request that the folder's checkpoint holds; the images must be given again.
DeepRequest resumed_deep_learning(const std::filesystem::path& folder);

class DeepRun {
 public:
  explicit DeepRun(DeepRequest request);
  // Goes on with what the folder holds, where that is asked for. From here on the folder must be
  // there.
  void start();
  // True when all iterations are done. Saves now and then, and at the end.
  bool go(const LearnProgress& progress = {});
  const EbmRun& run() const { return *run_; }
  const DeepRequest& request() const { return request_; }
  // What the last iterations say against the model; empty: nothing.
  std::string doubts() const;

 private:
  DeepRequest request_;
  std::unique_ptr<EbmRun> run_;
};

// Tells other data from these.
std::string sum_of(Rows<const Symbol> rows);
std::string sum_of(const ImageSet& images);

}  // namespace saltus
