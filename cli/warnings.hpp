// How warnings of a result are shown, and what --strict makes of them.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/text.hpp"
#include "saltus/core/warning.hpp"

namespace saltus::cli {

// In the report. Where that goes into a file or a pipe, on standard error, too.
void show_warnings(const Warnings& warnings);
// Their sentences on standard error.
void say_warnings(const Warnings& warnings);

// From such a list (warnings_json), none of an empty text. Throws DataError where it is none.
Warnings parse_warnings(const std::string& json);

// Adds --strict to a command.
void add_strict(CLI::App& command, bool& strict);
// The exit status of a result: that of warnings where --strict was given.
int status_of(const Warnings& warnings, bool strict);

}  // namespace saltus::cli
