// Lists the results of whole runs that lie in a folder, such as results/ of this project.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "reproduce/experiment.hpp"

namespace saltus::reproduce {

// What a folder of results says of itself.
struct ListedResults {
  std::filesystem::path folder;
  std::string experiment, version, command;
  std::string date;  // "2026-11-15"; empty where the file has none
  bool quick = false;
  int seeds = 1;
  std::vector<int> verdicts;  // how many rows have each Verdict, in its order

  int count(Verdict verdict) const { return verdicts[static_cast<std::size_t>(verdict)]; }
};

// Of all folders below `folder` that hold a results.json, by name. Others are passed over; there
// are none where `folder` is not there.
std::vector<ListedResults> list_results(const std::filesystem::path& folder);

// Today as "2026-11-15", in UTC.
std::string today();
// "3 days old", "from today"; empty for what is no date.
std::string age_text(const std::string& date, const std::string& today);

}  // namespace saltus::reproduce
