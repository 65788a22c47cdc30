// log Z of a model by annealed importance sampling, from below and from above, by parallel
// tempering, or by both, and with it the log-likelihood of data.
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
#include "saltus/core/warning.hpp"
#include "saltus/io/model_file.hpp"
#include "saltus/learn/likelihood.hpp"
#include "saltus/run/pacer.hpp"
#include "saltus/sampler/registry.hpp"
#include "saltus/temper/parallel_tempering.hpp"

namespace saltus {

// Log Z from the exchanges of a ladder of temperatures. The chains of `run` are ensembles; its
// warm-up and draws count scans.
struct LogzTempering : TemperingPlan {
  RunPlan run;
};

struct LogzRequest : Saving {
  LogzRequest() { checkpoint_every = 60; }
  explicit LogzRequest(std::shared_ptr<const Target> of);
  explicit LogzRequest(Model model);  // with the model's own base, where it has one

  std::shared_ptr<const Target> target;
  std::optional<Independent> base;  // where chains start; none: uniform over all levels
  std::string sampler = "dmala";    // must be exact
  Settings settings;
  bool annealing = true;  // by `plan`
  AisPlan plan;
  std::optional<LogzTempering> tempering;  // in its place, or as well
  // Processes that share the chains and the ensembles, as in SampleRequest. With both methods no
  // more of them have work than both have tiles.
  Team* team = nullptr;
  Rows<const Symbol> test = {};             // data whose log-likelihood is wanted
  std::string test_name = "the test data";  // in messages

  // What a checkpoint must agree in beside the plan: the model's text, and files with checksums.
  std::string model_text;
  std::map<std::string, std::string> files;
};

struct LogzResult {
  bool complete = false;              // not stopped: there are the estimates that were asked for
  std::optional<AisResult> estimate;  // by annealing
  bool tuned = false;                 // its sampler was, at beta = 1
  std::optional<TemperingReport> tempering;
  double tempering_seconds = 0;
  std::optional<double> exact;      // where the model is small
  std::optional<double> mean_logp;  // of the test data, up to the model's constant
  std::optional<LikelihoodInterval> log_likelihood;
  Warnings warnings;  // what speaks against the estimate

  // Between these log Z probably lies, once complete: those of annealing, where it was asked for,
  // otherwise two standard errors below and above the estimate by tempering.
  double low() const;
  double high() const;
};

struct LogzStatus {
  enum class Stage { warmup, forward, reverse, tempering } stage;
  double done = 0;  // part of the stage
};

// Told now and then; false stops the work, which can be continued where there is a checkpoint.
using LogzProgress = std::function<bool(const LogzStatus&)>;

// Throws UsageError, DataError and FileError. In a team the result is the leader's.
LogzResult logz(const LogzRequest& request, const LogzProgress& progress = {});

}  // namespace saltus
