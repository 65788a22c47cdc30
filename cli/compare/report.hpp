// The outcome of a race: a table for people, JSON for programs, CSV for spreadsheets.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "saltus/compare/race.hpp"
#include "saltus/diagnose/exact.hpp"

namespace saltus::cli {

struct CompareReport {
  const Target& target;
  RacePlan plan;
  std::vector<RaceResult> results;
  std::vector<double> error;  // root mean square error of the means, NaN where unknown
  std::vector<double> bias;   // L1 distance of the stationary law from the model, NaN where unknown
  std::optional<ExactAnswer> exact;
  double seconds = 0;
};

nlohmann::ordered_json compare_json(const CompareReport& report);
std::string compare_csv(const CompareReport& report);
void print_comparison(const CompareReport& report);

}  // namespace saltus::cli
