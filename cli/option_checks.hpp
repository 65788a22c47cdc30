// Checks of option values that several subcommands share.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <initializer_list>
#include <string>

namespace saltus::cli {

// A finite number that is not below `least`; CLI11's own ranges let NaN pass.
CLI::Validator finite_number(double least);

// Throws UsageError.
std::uint64_t parse_seed(const std::string& text);

inline constexpr std::int64_t kMostSteps = std::int64_t{1} << 53;

bool was_given(const CLI::App& command, const char* option);

// Throws UsageError where one of the options was given, which the checkpoint `where` settles.
void refuse_settled(const CLI::App& command, std::initializer_list<const char*> options,
                    const std::string& where);

}  // namespace saltus::cli
