// saltus sample: from a model to diagnosed draws. The library draws; this looks after the files,
// the terminal and signals.
#include <fmt/core.h>

#include <filesystem>
#include <memory>

#include "cli/commands.hpp"
#include "cli/interrupt.hpp"
#include "cli/progress.hpp"
#include "cli/sample/options.hpp"
#include "cli/sample/report.hpp"
#include "cli/terminal.hpp"
#include "cli/text.hpp"
#include "io/bytes/new_file.hpp"
#include "saltus/core/error.hpp"
#include "saltus/io/draw_files.hpp"

namespace saltus::cli {
namespace {

namespace fs = std::filesystem;

// A run without --checkpoint that is interrupted, or cannot write its draws, is saved all the same:
// in the first of some folders where that is possible. Throws FileError.
void save_somewhere(SampleRun& run, const SampleCommand& command) {
  std::vector<fs::path> folders = {""};
  if (fs::path(command.out).has_parent_path()) {
    folders.push_back(fs::path(command.out).parent_path());
  }
  folders.push_back(temporary_folder());
  for (std::size_t k = 0; k < folders.size(); ++k) {
    const std::string name =
        command.files->new_checkpoint({folders.begin() + static_cast<long>(k), folders.end()});
    try {
      return run.save_to(name);
    } catch (const FileError&) {  // a disk that is full, say
      if (k + 1 == folders.size()) throw;
    }
  }
}

// After something went wrong: saves what has been made, unless that is saved already, and returns
// how to continue; or why that is not possible. Lines of their own.
std::string rescue(SampleRun& run, const SampleCommand& command) {
  const std::string& checkpoint = run.request().checkpoint;
  if (run.run().warming_up() && checkpoint.empty()) return "";
  try {
    if (checkpoint.empty()) save_somewhere(run, command);
  } catch (const std::exception& e) {
    return fmt::format("The run is not saved: {}\n", e.what());
  }
  if (!fs::exists(checkpoint)) return "";
  return fmt::format(
      "The run is saved in {}. To continue, or to write the draws elsewhere:\n"
      "  saltus sample --resume {}{}\n",
      checkpoint, shell_word(checkpoint), command.out.empty() ? "" : " --out FILE");
}

void tell_how_to_continue(const SampleResult& result, const std::string& checkpoint) {
  if (result.complete) return;
  say("Stopped after {} of {} draws of each chain.", with_commas(result.draws_made),
      with_commas(result.plan.draws));
  if (checkpoint.empty()) {
    say(" Give --checkpoint FILE to be able to continue.\n");
  } else {
    say(" Saved in {}. To continue:\n  saltus sample --resume {}\n", checkpoint,
        shell_word(checkpoint));
  }
}

bool go(SampleRun& run) {
  Progress progress;
  return run.go([&](const RunStatus& status) { return progress.update(status); });
}

// From the first step to the last draw in its file.
void make_draws(SampleRun& run, const SampleCommand& command) {
  try {
    const bool complete = go(run);
    if (!complete && signal_seen() && run.request().checkpoint.empty()) {
      try {
        save_somewhere(run, command);
      } catch (const FileError& e) {
        say("saltus: the run is not saved: {}\n", e.what());
      }
    }
    if (!command.out.empty() && run.run().draws_made() > 0) write_draws(command.out, *run.draws());
  } catch (const FileError& e) {
    throw EndError(e.writing ? cannot_create : no_input, e.what(), rescue(run, command));
  } catch (const std::bad_alloc&) {
    throw EndError(no_memory, "there is not enough memory", rescue(run, command));
  }
}

// The draws must not be lost because their summary does not fit into memory.
SampleResult summarise_draws(SampleRun& run, const SampleCommand& command) {
  try {
    return run.result();
  } catch (const std::bad_alloc&) {
    throw EndError(no_memory, "there is not enough memory for the summary", rescue(run, command));
  }
}

int sample(const SampleCommand& command) {
  SampleRun run(command.request);
  run.start();
  make_draws(run, command);
  const SampleResult result = summarise_draws(run, command);
  if (command.json) {
    show_json(report_json(result), {{"mean", result.mean}});
  } else {
    print_report(result);
  }
  tell_how_to_continue(result, run.request().checkpoint);
  return result.complete || !signal_seen() ? ok : 128 + signal_seen();
}

}  // namespace

void add_sample(CLI::App& program, int& status) {
  CLI::App* command = program.add_subcommand("sample", "Draw from a model");
  auto options = std::make_shared<SampleOptions>(*command);
  command->callback([options, &status] { status = sample(options->complete()); });
}

}  // namespace saltus::cli
