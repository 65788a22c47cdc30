// Observables and the best state: --observe, and tables.
#pragma once

#include <CLI/CLI.hpp>

#include <optional>
#include <string>
#include <vector>

#include "cli/text.hpp"
#include "saltus/diagnose/observables.hpp"

namespace saltus::cli {

// Adds --observe to a command.
void add_observe(CLI::App& command, std::vector<std::string>& observe);

// A table of their own, after an empty line.
void show_observables(const std::vector<ObservableSummary>& list);

// With the names of a few coordinates, where levels have names.
void show_best(const BestDraw& best, const Labels& labels);

}  // namespace saltus::cli
