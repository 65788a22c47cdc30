// Observables and the best state: --observe, tables and JSON.
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
Json observables_json(const std::vector<ObservableSummary>& list);

// With the names of a few coordinates, where levels have names.
void show_best(const BestDraw& best, const Labels& labels);
// null where there is none. The state is long_list("best.state"), with the numbers best_levels.
Json best_json(const std::optional<BestDraw>& best);
std::vector<double> best_levels(const std::optional<BestDraw>& best);

}  // namespace saltus::cli
