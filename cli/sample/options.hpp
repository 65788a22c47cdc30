// What 'saltus sample' is asked to do, from options and, when resuming, from a checkpoint.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "cli/model_options.hpp"
#include "cli/run_control.hpp"
#include "saltus/sample.hpp"

namespace saltus::cli {

struct SampleCommand : RunControl {
  SampleCommand() { checkpoint_every = 1; }

  ModelRequest model;
  SampleRequest request;
  std::string record = "draws";  // or moments
  std::string init = "random", out;
  std::shared_ptr<const RowBuffer<Symbol>> start;  // from the file `init`
};

// KEY=VALUE texts as settings. Throws UsageError.
Settings parse_settings(const std::vector<std::string>& list);

// Binds the options of the subcommand to the request.
class SampleOptions {
 public:
  explicit SampleOptions(CLI::App& command);
  // Checks what was given and completes it: reads the model, and the checkpoint when resuming.
  // Throws UsageError, FileError and DataError.
  SampleCommand complete();

 private:
  SampleCommand begun(SampleCommand c) const;
  SampleCommand resumed(SampleCommand c) const;

  CLI::App& command_;
  SampleCommand given_;
  std::vector<std::string> set_;
  std::string seed_ = "1";
};

}  // namespace saltus::cli
