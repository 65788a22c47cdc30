// Which model a subcommand works on, and where it is computed.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "saltus/io/model_file.hpp"

namespace saltus::cli {

struct ModelRequest {
  std::string model = "ising-lattice";  // file or name
  std::string domain;                   // of a script
  int dim = 0, levels = 0;
  std::string device = "cpu", precision;
  bool no_scripts = false;

  ModelOptions options() const;  // throws UsageError
};

void add_model_options(CLI::App& command, ModelRequest& request);

// Throws UsageError, FileError, DataError.
Model load_model(const ModelRequest& request);

}  // namespace saltus::cli
