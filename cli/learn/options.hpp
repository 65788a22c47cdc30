// What 'saltus learn' is asked to do, from options and, when resuming, from a checkpoint.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/run_control.hpp"
#include "saltus/learn/contrastive_divergence.hpp"
#include "saltus/sampler/registry.hpp"

namespace saltus::cli {

struct LearnRequest : RunControl {
  // What determines the model; kept in the checkpoint.
  std::string kind;  // rbm or ising
  std::string data;
  std::string data_sum;  // of the data's contents
  int hidden = 500;
  bool fields = false;
  std::string sampler;
  Settings settings;
  LearningPlan plan;
  std::uint64_t iterations = 0, epochs = 0;  // one of them; iterations when all is known
  std::string out;
};

// Binds the options of 'saltus learn rbm' or 'saltus learn ising' to the request.
class LearnOptions {
 public:
  LearnOptions(CLI::App& command, std::string kind);
  // Checks what was given and completes it, as far as that is possible without the data. Throws
  // UsageError.
  LearnRequest request() const;

 private:
  void add_common();
  void choose_phase(LearnRequest& r) const;
  LearnRequest resumed(const LearnRequest& r) const;

  CLI::App& command_;
  LearnRequest given_;
  int cd_ = 0;
  std::vector<std::string> set_;
  std::string seed_ = "1";
};

// The description that a checkpoint carries.
std::string describe(const LearnRequest& request);

}  // namespace saltus::cli
