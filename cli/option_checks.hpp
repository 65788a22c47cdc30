// Checks of option values that several subcommands share.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

namespace saltus::cli {

// A finite number that is not below `least`; CLI11's own ranges let NaN pass.
CLI::Validator finite_number(double least);

// Throws UsageError.
std::uint64_t parse_seed(const std::string& text);

}  // namespace saltus::cli
