// How a long command saves itself, goes on and stops: options that do not determine the draws or
// the model.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "option_checks.hpp"

namespace saltus::cli {

struct RunControl {
  std::string checkpoint, resume;  // files; empty: none
  double checkpoint_every = 10, time_limit = 0;
  bool json = false;

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
    command.add_option("--time", time_limit, texts.time)
        ->type_name("SECONDS")
        ->check(finite_number(1e-9));
  }

  // That of a command that goes on: it is saved where it was, unless another file is named.
  RunControl going_on() const {
    RunControl c = *this;
    if (c.checkpoint.empty()) c.checkpoint = c.resume;
    return c;
  }
};

}  // namespace saltus::cli
