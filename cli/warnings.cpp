#include <unistd.h>

#include <CLI/CLI.hpp>

#include "cli/commands.hpp"
#include "cli/terminal.hpp"
#include "cli/warnings.hpp"
#include "saltus/core/error.hpp"

namespace saltus::cli {

void say_warnings(const Warnings& warnings) {
  for (const Warning& w : warnings) say("saltus: warning: {}\n", w.sentence);
}

void show_warnings(const Warnings& warnings) {
  for (const Warning& w : warnings) show("\nWarning: {}\n", w.sentence);
  if (!::isatty(STDOUT_FILENO)) say_warnings(warnings);
}

Warnings parse_warnings(const std::string& json) {
  Warnings warnings;
  if (json.empty()) return warnings;
  try {
    for (const auto& w : Json::parse(json)) {
      warnings.push_back({w.at("code").get<std::string>(), w.at("sentence").get<std::string>()});
    }
  } catch (const Json::exception&) {
    throw DataError("its record of the run's warnings is damaged");
  }
  return warnings;
}

void add_strict(CLI::App& command, bool& strict) {
  command.add_flag("--strict", strict,
                   "End with status " + std::to_string(warned) + " when there is a warning");
}

int status_of(const Warnings& warnings, bool strict) {
  return strict && !warnings.empty() ? warned : ok;
}

}  // namespace saltus::cli
