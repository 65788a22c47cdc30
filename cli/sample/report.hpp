// The summary of a run: a table for people, JSON for programs.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "cli/sample/options.hpp"
#include "saltus/compare/race.hpp"
#include "saltus/diagnose/exact.hpp"
#include "saltus/diagnose/summary.hpp"

namespace saltus::cli {

struct SampleReport {
  const SampleRequest& request;
  const Target& target;
  const Run& run;
  RunStatistics statistics;
  std::uint64_t draws = 0;
  bool complete = true;
  std::vector<double> mean;  // of every coordinate
  std::vector<int> watched;  // the coordinates that the following belong to
  std::vector<CoordinateSummary> summaries;
  std::optional<ExactAnswer> exact;
  std::optional<Choice> choice;  // with --sampler auto
};

// What speaks against the draws, a sentence each.
std::vector<std::string> warnings_of(const SampleReport& report);
nlohmann::ordered_json report_json(const SampleReport& report);
void print_report(const SampleReport& report);

}  // namespace saltus::cli
