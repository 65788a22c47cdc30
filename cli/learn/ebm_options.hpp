// What 'saltus learn ebm' is asked to do, from options and, when resuming, from a checkpoint.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "saltus/learn.hpp"

namespace saltus::cli {

struct LearnEbmCommand {
  DeepRequest request;
  std::string dataset;  // name or file
  std::string data;     // folder of data sets
  std::string device = "cpu", precision;
  bool json = false;
};

class LearnEbmOptions {
 public:
  explicit LearnEbmOptions(CLI::App& command);
  // Checks what was given and completes it, as far as that is possible without the data. Throws
  // UsageError.
  LearnEbmCommand complete() const;

 private:
  void add_network(LearnEbmCommand& c);
  void add_learning(LearnEbmCommand& c);
  void add_running(LearnEbmCommand& c);
  LearnEbmCommand resumed(LearnEbmCommand c) const;

  CLI::App& command_;
  LearnEbmCommand given_;
  std::vector<std::string> set_;
  std::string seed_ = "1", out_;
  int buffer_ = 0;
};

}  // namespace saltus::cli
