// saltus learn: from data to a model that 'saltus sample' draws from.
#include <fmt/core.h>

#include <filesystem>
#include <memory>

#include "cli/commands.hpp"
#include "cli/learn/ebm.hpp"
#include "cli/learn/options.hpp"
#include "cli/learn/report.hpp"
#include "cli/progress.hpp"
#include "cli/terminal.hpp"
#include "cli/text.hpp"
#include "io/bytes/new_file.hpp"
#include "saltus/core/error.hpp"
#include "saltus/io/data_file.hpp"

namespace saltus::cli {
namespace {

namespace fs = std::filesystem;

std::string resume_text(const LearnRequest& r) {
  return fmt::format("saltus learn {} --resume {}", r.kind, shell_word(r.checkpoint));
}

// What was interrupted without --checkpoint, or cannot be written, is saved all the same.
void save_somewhere(LearnRun& run, const LearnCommand& command) {
  run.save_to(command.files->new_checkpoint(
      {"", fs::path(command.out).parent_path() / "", temporary_folder()}));
}

bool go(LearnRun& run) {
  Progress progress;
  return run.go([&](const LearnStatus& status) {
    return progress.update(status.seconds, [&] { return line_of(status); });
  });
}

void write_model(LearnRun& run, const LearnCommand& command) {
  try {
    run.model().write(command.out);
  } catch (const FileError& e) {
    if (run.request().checkpoint.empty()) save_somewhere(run, command);
    throw EndError(cannot_create, e.what(),
                   fmt::format("What was learned is saved in {}. To write it elsewhere:\n"
                               "  {} --out FILE.json\n",
                               run.request().checkpoint, resume_text(run.request())));
  }
}

void tell_how_to_continue(const LearnRequest& r, std::uint64_t iterations) {
  say("Stopped after {} of {} iterations.", with_commas(iterations), with_commas(r.iterations));
  if (r.checkpoint.empty()) {
    say(" Give --checkpoint FILE to be able to continue.\n");
  } else {
    say(" Saved in {}. To continue:\n  {}\n", r.checkpoint, resume_text(r));
  }
}

// From the first iteration to the model in its file.
void learn_and_write(LearnRun& run, const LearnCommand& command) {
  bool complete = false;
  try {
    complete = go(run);
  } catch (const FileError& e) {
    const LearnRequest& r = run.request();
    const bool saved = !r.checkpoint.empty() && fs::exists(r.checkpoint);
    throw EndError(e.writing ? cannot_create : no_input, e.what(),
                   saved ? fmt::format("The last save is {}. To continue:\n  {}\n", r.checkpoint,
                                       resume_text(r))
                         : "");
  }
  if (!complete && signal_seen() && run.request().checkpoint.empty()) save_somewhere(run, command);
  write_model(run, command);
  if (!complete) tell_how_to_continue(run.request(), run.result().totals.iterations);
}

int learn(LearnCommand command) {
  const DataSet data = read_binary_data(command.data);
  LearnRequest& request = command.request;
  request.data = data.rows.view();
  if (!command.resume.empty() && sum_of(request.data) != request.data_sum) {
    throw DataError(command.data + ": not the data that " + command.resume + " learned from");
  }
  request.notes = {{"data", fs::absolute(command.data).lexically_normal().string()},
                   {"out", command.out}};
  static_cast<Saving&>(request) = command;
  LearnRun run(request);
  learn_and_write(run, command);
  const LearnResult result = run.result();
  if (command.json) {
    show_json(report_json(command, run.request(), result));
  } else {
    print_report(command, run.request(), result);
  }
  return result.complete || !signal_seen() ? ok : 128 + signal_seen();
}

}  // namespace

void add_learn(CLI::App& program, int& status) {
  CLI::App* command = program.add_subcommand("learn", "Learn a model from data");
  command->require_subcommand(1);
  const auto add = [&](const char* kind, const char* summary) {
    CLI::App* one = command->add_subcommand(kind, summary);
    auto options = std::make_shared<LearnOptions>(*one, kind);
    one->callback([options, &status] { status = learn(options->complete()); });
  };
  add("rbm", "Restricted Boltzmann machine");
  add("ising", "Ising model with couplings between all spins");
  add_learn_ebm(*command, status);
}

}  // namespace saltus::cli
