// saltus: sampling from high-dimensional discrete distributions, on the command line.
#include <fmt/core.h>

#include <cstdio>
#include <exception>

#include "commands.hpp"
#include "saltus/core/error.hpp"
#include "saltus/version.hpp"
#include "text.hpp"

namespace {

using namespace saltus;
using namespace saltus::cli;

// One line, whatever a file's contents or an option's value brought into the message.
int complain(const std::exception& error, int status) {
  std::string text = error.what();
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = ' ';
  }
  fmt::print(stderr, "saltus: {}\n", text);
  return status;
}

std::string typed;

int run(CLI::App& program, int argc, char** argv) {
  typed = "saltus";
  for (int i = 1; i < argc; ++i) typed += " " + shell_word(argv[i]);
  program.parse(argc, argv);
  return ok;
}

}  // namespace

const std::string& saltus::cli::command_line() {
  return typed;
}

int main(int argc, char** argv) {
  CLI::App program{"Draws from high-dimensional discrete distributions that you can trust.",
                   "saltus"};
  program.set_version_flag("--version", std::string("saltus ") + version());
  program.require_subcommand(1);
  program.footer(
      "'saltus COMMAND --help' tells more. Without a model, 'saltus sample' draws from the\n"
      "paper's 5 x 5 Ising model.");
  int status = ok;
  add_sample(program, status);
  add_compare(program, status);
  add_verify(program, status);
  add_logz(program, status);
  add_diagnose(program, status);
  add_report(program, status);
  add_learn(program, status);
  add_infill(program, status);
  add_reproduce(program, status);
  add_lists(program, status);
  try {
    run(program, argc, argv);
  } catch (const CLI::Success& e) {  // --help, --version
    return program.exit(e);
  } catch (const CLI::ParseError& e) {
    return complain(e, usage);
  } catch (const UsageError& e) {
    return complain(e, usage);
  } catch (const DataError& e) {
    return complain(e, data);
  } catch (const FileError& e) {
    return complain(e, e.writing ? cannot_create : no_input);
  } catch (const std::exception& e) {
    return complain(e, software);
  }
  if (std::fflush(stdout) != 0 || std::ferror(stdout)) {
    fmt::print(stderr, "saltus: cannot write to the standard output\n");
    return io_error;
  }
  return status;
}
