// What the program answers to words that it does not know, and where nothing was asked.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace saltus::cli {

// The help that 'saltus', 'saltus learn', 'saltus help' or 'saltus help COMMAND' asks for; empty
// for other words. Throws UsageError when a command in `words` is unknown.
std::string asked_help(const CLI::App& program, const std::vector<std::string>& words);

// Why the first word that no option or argument took was not expected.
std::string unexpected_word(const CLI::App& program);

}  // namespace saltus::cli
