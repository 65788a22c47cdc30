// One entry of Table 1: a deep energy that learns from one data set with one sampler, and the
// log-likelihood of test images under the best of its checkpoints. All of it lies in a folder of
// its own, where learning and evaluation go on when they were stopped.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "reproduce/experiment.hpp"
#include "saltus/learn/ebm_run.hpp"
#include "saltus/learn/likelihood.hpp"
#include "saltus/torch/module.hpp"

namespace saltus::reproduce {

// How large everything is.
struct EbmProtocol {
  ResnetShape shape;
  EbmPlan plan;             // buffer and seed are the cell's
  int images = 0;           // of each part that are used; 0: all
  NetworkLearning network;  // Adam, and the average of the parameters
  // The final estimate of log Z: GWG-1, forward and reverse.
  int betas = 300'000, chains = 132;  // betas tighten more than chains; 132 fill an H200 once
  std::uint64_t warmup = 10'000;      // steps of the reverse chains before they start

  static EbmProtocol full();
  static EbmProtocol quick();
  void reduce_evaluation();  // to 30,000 betas and 100 chains
};

// The iterations between two validations: fewer on Caltech, where learning may diverge.
std::uint64_t validations_every(const std::string& dataset, const EbmProtocol& protocol);

struct EbmCell {
  std::string dataset, label, sampler;  // "static_mnist", "DMALA", "dmala"
  double alpha = NAN;                   // where it has a step size
  double paper = NAN;                   // test log-likelihood, where the paper has one
  bool tuned = false;                   // the step size is, from alpha on
  double penalty = 0;                   // of the energy (NetworkLearning)
  double rate = 0;                      // of learning; 0: the protocol's
  bool steady = false;                  // tuned, with a penalty, GWG's steps and a falling rate

  bool published() const { return !tuned && penalty == 0 && rate == 0 && !steady; }
  std::string key() const;
  std::string name() const { return dataset + "/" + key(); }
  std::string folder() const { return dataset + "-" + key(); }
  Settings settings() const;
};

// All of Table 1, by data sets; and, beside it, DMALA with a tuned step size, with a bounded energy
// as well, and with all that keeps learning steady; and Caltech at a smaller learning rate.
const std::vector<EbmCell>& ebm_cells();
// Those of "static_mnist", "caltech/dmala", ...; those of the paper where no sampler is named.
// Throws UsageError.
std::vector<EbmCell> chosen_cells(const std::vector<std::string>& only);

// What the cells are made of; tests have their own.
struct EbmMakers {
  std::function<ImageSet(const std::string& dataset)> images;
  std::function<std::unique_ptr<LearningNetwork>(ResnetEnergy start, double energy_penalty)>
      network;
  std::function<std::unique_ptr<Target>(ResnetEnergy)> target;
};

// Where it is done, and until when.
struct EbmWork {
  EbmProtocol protocol;
  std::uint64_t seed = 1;
  int threads = 0;
  std::filesystem::path folder;  // of all cells
  double checkpoint_every = 120;
  // Told what is being done; false stops, as soon as everything is saved.
  std::function<bool(const std::string& doing)> watch;
};

// Learns and evaluates. True when all of it is done, or has failed (the folder says why);
// false when `watch` stopped it. Throws UsageError when the folder holds something else.
bool work_on(const EbmCell& cell, const EbmWork& work, const EbmMakers& makers);

struct EbmEvaluation {
  int images = 0;
  double mean_logp = 0;
  double forward = 0, forward_error = 0, forward_ess = 0;  // log Z
  double reverse = 0, reverse_error = 0, reverse_ess = 0;
  double low = 0, high = 0;  // test log-likelihood
  int betas = 0, chains = 0;
  std::uint64_t best_iteration = 0, iterations = 0;  // of the learning that was evaluated
  double seconds = 0;
};

// What a cell's folder tells.
struct EbmRecord {
  EbmCell cell;
  std::vector<EbmInfo> history;
  std::vector<Validation> validations;
  std::optional<EbmEvaluation> evaluation;
  std::string failure;                   // of learning, where it failed
  std::string problem;                   // of the evaluation, where there was one
  std::vector<std::string> notes;        // that belong to all numbers from this data set
  std::vector<std::byte> data, samples;  // PNG files: images to test with, chains

  bool begun() const { return !history.empty() || !validations.empty() || !failure.empty(); }
  // That of the parameters that were evaluated, or are to be; null when there is none.
  const Validation* chosen() const;
};
EbmRecord read_record(const EbmCell& cell, const std::filesystem::path& folder);

// Rows and page. `finished`: the time was enough for all of the cells.
Results ebm_results(const std::vector<EbmRecord>& records, const EbmProtocol& protocol, bool quick,
                    bool finished);

}  // namespace saltus::reproduce
