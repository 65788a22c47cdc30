// The outcome of a race: a table for people, JSON for programs, CSV for spreadsheets.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "saltus/compare.hpp"

namespace saltus::cli {

struct CompareReport {
  const Target& target;
  const RacePlan& plan;
  const CompareResult& outcome;
  const std::vector<RaceResult>& results = outcome.results;
};

nlohmann::ordered_json compare_json(const CompareReport& report);
std::string compare_csv(const CompareReport& report);
void print_comparison(const CompareReport& report);

}  // namespace saltus::cli
