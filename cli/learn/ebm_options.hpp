// What 'saltus learn ebm' is asked to do, from options and, when resuming, from a checkpoint.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "learn/ebm_run.hpp"
#include "saltus/torch/module.hpp"

namespace saltus::cli {

struct LearnEbmRequest {
  // What determines the model; kept in the checkpoint.
  std::string dataset;   // name or file
  std::string data_sum;  // of the data's contents
  EbmSetup setup;        // the network's height and width follow from the data
  NetworkLearning network;

  // What does not determine it, but for the last bits.
  std::string data;  // folder of data sets
  std::string device = "cpu", precision;
  bool resume = false, json = false;
  double time_limit = 0;
};

class LearnEbmOptions {
 public:
  explicit LearnEbmOptions(CLI::App& command);
  // Checks what was given and completes it, as far as that is possible without the data. Throws
  // UsageError.
  LearnEbmRequest request() const;

 private:
  void add_network(LearnEbmRequest& r);
  void add_learning(LearnEbmRequest& r);
  void add_running(LearnEbmRequest& r);
  LearnEbmRequest resumed(const LearnEbmRequest& r) const;

  CLI::App& command_;
  LearnEbmRequest given_;
  std::vector<std::string> set_;
  std::string seed_ = "1", out_;
  int buffer_ = 0;
};

// The description that a checkpoint carries.
std::string describe(const LearnEbmRequest& request);

}  // namespace saltus::cli
