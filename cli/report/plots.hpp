// The plots, the table and the pictures of a run's page.
#pragma once

#include <vector>

#include "cli/text.hpp"
#include "report/page.hpp"
#include "saltus/diagnose/observables.hpp"
#include "saltus/run/draws.hpp"

namespace saltus::cli {

struct RunPage {
  const Draws& draws;
  const Summaries& summaries;       // of every coordinate
  std::vector<std::size_t> by_ess;  // coordinates, worst first
  std::vector<std::size_t> shown;   // those with plots of their own
  const std::vector<Observed>& observed;
  report::Page& page;
  Labels labels = labels_in(draws.info());
};

// Of all coordinates, or of all their classes.
void add_table(const RunPage& run);
// Quantities of whole states, and the best state.
void add_observables(const RunPage& run);
void add_traces(const RunPage& run);
void add_autocorrelation(const RunPage& run);
void add_pictures(const RunPage& run);
// Of a tempered run: the ladder, the paths of replicas and the barrier. Throws DataError when the
// file's record of it is damaged.
void add_ladder(const RunPage& run);

}  // namespace saltus::cli
