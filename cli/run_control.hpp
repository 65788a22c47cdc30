// How a long command saves itself, goes on and stops: options that do not determine the draws or
// the model.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "cli/option_checks.hpp"
#include "cli/run_files.hpp"
#include "saltus/run/pacer.hpp"

namespace saltus::cli {

struct RunControl : Saving {
  bool json = false;
  std::shared_ptr<RunFiles> files;  // locks them

  struct Texts {
    const char *checkpoint, *resume, *time;
  };
  void add_options(CLI::App& command, const Texts& texts) {
    command.add_flag("--json", json, "Print the summary as JSON, and nothing else");
    command.add_option("--checkpoint", checkpoint, texts.checkpoint)->type_name("FILE");
    command.add_option("--checkpoint-every", checkpoint_every, "Seconds between checkpoints")
        ->capture_default_str()
        ->check(finite_number(0));
    command.add_option("--resume", resume, texts.resume)->type_name("FILE");
    command.add_flag("--overwrite", overwrite,
                     "Replace the checkpoint of an earlier run that is in --checkpoint FILE");
    command.add_option("--time", time_limit, texts.time)
        ->type_name("SECONDS")
        ->check(finite_number(1e-9));
  }

  // Locks the files; call it before reading a checkpoint. A resumed command saves where it was
  // saved before, unless --checkpoint names another file.
  void claim_files() {
    if (checkpoint.empty()) checkpoint = resume;
    files = std::make_shared<RunFiles>(checkpoint, resume, overwrite);
  }
};

}  // namespace saltus::cli
