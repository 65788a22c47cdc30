// How help texts look: options by topic, lines of at most 80 characters, an example for each
// command.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace saltus::cli {

// Of the program with all its commands.
void arrange_help(CLI::App& program);

// Commands to copy, shown under the help of `command` ("sample", "learn rbm"); none for an unknown
// one.
std::vector<std::string> examples_of(const std::string& command);

// CLI11's name of a type as people read it: "N" for INT, "a|b" for :{a,b}; what a check adds behind
// a colon is left out.
std::string readable_type(const std::string& type);

}  // namespace saltus::cli
