// The subcommands. Each adds itself to the program and, when chosen, runs and leaves its exit
// status.
#pragma once

#include <CLI/CLI.hpp>
#include <initializer_list>
#include <string>

namespace saltus::cli {

// Exit statuses, after sysexits.h.
enum Status {
  ok = 0,
  failed = 1,
  warned = 3,  // with --strict: the result comes with warnings
  usage = 64,
  data = 65,
  no_input = 66,
  software = 70,
  no_memory = 71,
  cannot_create = 73,
  io_error = 74
};

// The command as it was typed, for records of how a file was made.
const std::string& command_line();
// The same without these options and their values.
std::string command_line_without(std::initializer_list<std::string> options);

void add_sample(CLI::App& program, int& status);
void add_compare(CLI::App& program, int& status);
void add_verify(CLI::App& program, int& status);
void add_exact(CLI::App& program, int& status);
void add_certify(CLI::App& program, int& status);
void add_logz(CLI::App& program, int& status);
void add_anneal(CLI::App& program, int& status);
void add_diagnose(CLI::App& program, int& status);
void add_report(CLI::App& program, int& status);
void add_learn(CLI::App& program, int& status);
void add_learn_ebm(CLI::App& learn, int& status);  // to 'saltus learn'
void add_infill(CLI::App& program, int& status);
void add_reproduce(CLI::App& program, int& status);
void add_merge(CLI::App& program, int& status);
void add_tune(CLI::App& program, int& status);
void add_convert(CLI::App& program, int& status);
void add_generate(CLI::App& program, int& status);
void add_lists(CLI::App& program, int& status);
void add_manual(CLI::App& program, int& status);

}  // namespace saltus::cli
