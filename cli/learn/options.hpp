// What 'saltus learn' is asked to do, from options and, when resuming, from a checkpoint.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/run_control.hpp"
#include "saltus/learn.hpp"

namespace saltus::cli {

struct LearnCommand : RunControl {
  LearnRequest request;
  std::string data, out;  // files
};

// Binds the options of 'saltus learn rbm' or 'saltus learn ising' to the request.
class LearnOptions {
 public:
  LearnOptions(CLI::App& command, std::string kind);
  // Checks what was given and completes it, as far as that is possible without the data. Throws
  // UsageError.
  LearnCommand complete() const;

 private:
  void add_common();
  void choose_phase(LearnRequest& r) const;
  LearnCommand resumed(LearnCommand c) const;

  CLI::App& command_;
  LearnCommand given_;
  int cd_ = 0;
  std::vector<std::string> set_;
  std::string seed_ = "1";
};

}  // namespace saltus::cli
