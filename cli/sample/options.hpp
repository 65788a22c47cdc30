// What 'saltus sample' is asked to do, from options and, when resuming, from a checkpoint.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <vector>

#include "cli/model_options.hpp"
#include "cli/run_control.hpp"
#include "saltus/run/run.hpp"
#include "saltus/sampler/registry.hpp"

namespace saltus::cli {

struct SampleRequest : RunControl {
  SampleRequest() { checkpoint_every = 1; }

  // What determines the draws; kept in the checkpoint.
  ModelRequest model;                              // when resuming, device and precision alone
  std::string model_text;                          // the model's complete JSON
  std::map<std::string, std::string> model_files;  // Model::files
  std::string sampler = "dmala";
  Settings settings;
  RunPlan plan;
  std::string record = "draws";  // or moments
  std::string out;
  int kept = 0;  // coordinates whose draws are kept: all of them, or evenly spread ones

  std::string init = "random";  // done with when a checkpoint is written
};

// KEY=VALUE texts as settings. Throws UsageError.
Settings parse_settings(const std::vector<std::string>& list);

// Binds the options of the subcommand to the request.
class SampleOptions {
 public:
  explicit SampleOptions(CLI::App& command);
  // Checks what was given and completes it. Throws UsageError.
  SampleRequest request();

 private:
  CLI::App& command_;
  SampleRequest given_;
  std::vector<std::string> set_;
  std::string seed_ = "1";
};

// The description that a checkpoint carries, and back. `text` is refused with a DataError that
// names `source` when it does not fit.
std::string describe(const SampleRequest& request);
SampleRequest from_description(const std::string& text, const std::string& source);

}  // namespace saltus::cli
