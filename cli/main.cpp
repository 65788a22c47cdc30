// saltus: sampling from high-dimensional discrete distributions, on the command line.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>

#include "cli/commands.hpp"
#include "cli/guidance.hpp"
#include "cli/help.hpp"
#include "cli/team.hpp"
#include "cli/terminal.hpp"
#include "cli/text.hpp"
#include "core/printable.hpp"
#include "saltus/compare/choice.hpp"
#include "saltus/core/error.hpp"
#include "saltus/io/model_file.hpp"
#include "saltus/version.hpp"

namespace {

using namespace saltus;
using namespace saltus::cli;

constexpr const char* kNoMemory = "there is not enough memory";

// One line, whatever a file's contents or an option's value brought into the message.
int complain(std::string_view text, int status, const std::string& advice = "") {
  let_leader_speak();
  say_text("saltus: " + message_text(text) + "\n" + advice);
  return leave_team(status, true);
}

// Commands that share their work with the processes that were started together; of the others the
// leader runs alone.
bool shares_work(const std::string& command) {
  return command == "sample" || command == "logz" || command == "anneal" || command == "learn" ||
         command == "compare";
}

// Where memory runs out while a large JSON value is freed, the JSON library cannot but throw from a
// destructor, which ends the program: then with words and a status of its own.
[[noreturn]] void end_without_memory() {
  try {
    if (const auto error = std::current_exception()) std::rethrow_exception(error);
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "saltus: %s\n", kNoMemory);
    std::_Exit(no_memory);
  } catch (...) {  // a mistake of ours
  }
  std::abort();
}

std::string typed;
std::vector<std::string> typed_words;

}  // namespace

const std::string& saltus::cli::command_line() {
  return typed;
}

std::string saltus::cli::command_line_without(std::initializer_list<std::string> options) {
  std::string text = "saltus";
  for (std::size_t k = 0; k < typed_words.size(); ++k) {
    const std::string& word = typed_words[k];
    if (std::find(options.begin(), options.end(), word) != options.end()) {
      ++k;  // its value
    } else if (std::none_of(options.begin(), options.end(), [&](const std::string& option) {
                 return word.starts_with(option + "=");
               })) {
      text += " " + shell_word(word);
    }
  }
  return text;
}

int main(int argc, char** argv) {
  open_standard_streams();
  if (!leads() && !(argc > 1 && shares_work(argv[1]))) return ok;
  std::set_terminate(end_without_memory);
  CLI::App program{"Draws from high-dimensional discrete distributions that you can trust.",
                   "saltus"};
  program.set_version_flag("--version", std::string("saltus ") + version());
  program.require_subcommand(1);
  typed_words.assign(argv + 1, argv + argc);
  typed = command_line_without({});
  int status = ok;
  for (auto* add : {add_sample, add_compare, add_verify, add_exact, add_certify, add_logz,
                    add_anneal, add_diagnose, add_report, add_learn, add_infill, add_reproduce,
                    add_convert, add_generate, add_tune, add_merge, add_lists, add_manual}) {
    add(program, status);
  }
  arrange_help(program);
  try {
    const std::string help = asked_help(program, {argv + std::min(1, argc), argv + argc});
    if (help.empty()) {
      program.parse(argc, argv);
    } else {
      show_text(help);
    }
  } catch (const CLI::Success& e) {  // --help, --version
    return program.exit(e);
  } catch (const CLI::ExtrasError&) {
    return complain(unexpected_word(program), usage);
  } catch (const CLI::ParseError& e) {
    return complain(e.what(), usage);
  } catch (const EndError& e) {
    return complain(e.what(), e.status, e.advice);
  } catch (const NoExactSampler& e) {
    return complain(std::string(e.what()) + ": name one with --sampler", usage);
  } catch (const UsageError& e) {
    return complain(e.what(), usage);
  } catch (const StartError& e) {
    return complain(std::string(e.what()) + " (saltus sample --init FILE)", data);
  } catch (const DataError& e) {
    return complain(e.what(), data);
  } catch (const NoModel& e) {
    return complain(std::string(e.what()) + " ('saltus models' lists the built-in ones)", no_input);
  } catch (const FileError& e) {
    return complain(e.what(), e.writing ? cannot_create : no_input);
  } catch (const OutputError& e) {
    return e.reader_gone ? leave_team(io_error, true) : complain(e.what(), io_error);
  } catch (const std::bad_alloc&) {
    return complain(kNoMemory, no_memory);
  } catch (const std::exception& e) {
    return complain(e.what(), software);
  }
  if (std::fflush(stdout) != 0 || std::ferror(stdout)) {
    const OutputError e;
    return e.reader_gone ? leave_team(io_error, true) : complain(e.what(), io_error);
  }
  return leave_team(status, false);
}
