// log Z of a model by annealed importance sampling, from below and from above, and with it the
// log-likelihood of data.
//
//   LogzRequest request(load_model("model.json"));
//   request.plan.annealing.betas = linear_betas(10'000);
//   const LogzResult result = logz(request);
//   ... result.estimate->low(), result.estimate->high(), result.warnings
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "saltus/anneal/ais.hpp"
#include "saltus/io/model_file.hpp"
#include "saltus/learn/likelihood.hpp"
#include "saltus/run/pacer.hpp"
#include "saltus/sampler/registry.hpp"

namespace saltus {

struct LogzRequest : Saving {
  LogzRequest() { checkpoint_every = 60; }
  explicit LogzRequest(std::shared_ptr<const Target> of);
  explicit LogzRequest(Model model);  // with the model's own base, where it has one

  std::shared_ptr<const Target> target;
  std::optional<Independent> base;  // where chains start; none: uniform over all levels
  std::string sampler = "dmala";    // must be exact
  Settings settings;
  AisPlan plan;
  Rows<const Symbol> test = {};             // data whose log-likelihood is wanted
  std::string test_name = "the test data";  // in messages

  // What a checkpoint must agree in beside the plan: the model's text, and files with checksums.
  std::string model_text;
  std::map<std::string, std::string> files;
};

struct LogzResult {
  std::optional<AisResult> estimate;  // none when it was stopped
  bool tuned = false;                 // the sampler was, at beta = 1
  std::optional<double> exact;        // where the model is small
  std::optional<double> mean_logp;    // of the test data, up to the model's constant
  std::optional<LikelihoodInterval> log_likelihood;
  std::vector<std::string> warnings;  // what speaks against the estimate, a sentence each
};

// Told now and then; false stops the work, which can be continued where there is a checkpoint.
using LogzProgress = std::function<bool(const AisStatus&)>;

// Throws UsageError, DataError and FileError.
LogzResult logz(const LogzRequest& request, const LogzProgress& progress = {});

}  // namespace saltus
