// What 'saltus infill' is asked to do.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/infill/sentence.hpp"
#include "saltus/infill.hpp"

namespace saltus::cli {

struct InfillCommand {
  std::string model;  // a folder; empty: the model that comes with the program
  DeviceChoice device;
  InfillRequest request;  // without the text
  int top = 5;
  bool all = false, json = false;

  std::vector<GappedText> sentences;
  bool from_file = false;
  std::vector<std::string> score;  // words for the gaps; empty: sample
};

class InfillOptions {
 public:
  explicit InfillOptions(CLI::App& command);
  // Checks what was given and reads the sentences. Throws UsageError, DataError, FileError.
  InfillCommand complete() const;

 private:
  void add_input();
  void add_sampling();
  void add_output();
  std::vector<GappedText> sentences() const;

  CLI::App& command_;
  InfillCommand given_;
  std::vector<std::string> set_;
  std::string text_, file_, seed_ = "1", device_ = "cpu", score_;
  double mask_fraction_ = 0;
};

}  // namespace saltus::cli
