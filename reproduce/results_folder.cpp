#include "reproduce/results_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>

#include "reproduce/output.hpp"

namespace saltus::reproduce {
namespace {

namespace chrono = std::chrono;

std::optional<chrono::sys_days> day_of(const std::string& date) {
  int year = 0;
  unsigned month = 0, day = 0;
  if (std::sscanf(date.c_str(), "%4d-%2u-%2u", &year, &month, &day) != 3) return std::nullopt;
  const chrono::year_month_day parsed{chrono::year(year), chrono::month(month), chrono::day(day)};
  return parsed.ok() ? std::optional<chrono::sys_days>(parsed) : std::nullopt;
}

// Throws Json::exception where it is not what an experiment writes.
ListedResults listed(const std::filesystem::path& folder, const Json& json) {
  ListedResults r{folder,
                  json.at("experiment"),
                  json.at("version"),
                  json.at("command"),
                  json.value("date", ""),
                  json.at("quick"),
                  json.at("seeds"),
                  std::vector<int>(kVerdicts.size())};
  for (const Json& row : json.at("rows")) {
    for (const Verdict v : kVerdicts) {
      r.verdicts[static_cast<std::size_t>(v)] += row.at("verdict") == verdict_text(v);
    }
  }
  return r;
}

}  // namespace

std::vector<ListedResults> list_results(const std::filesystem::path& folder) {
  std::vector<ListedResults> list;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(folder, none)) {
    std::ifstream file(entry.path() / "results.json");
    if (!file) continue;
    try {
      list.push_back(listed(entry.path(), Json::parse(file)));
    } catch (const Json::exception&) {
      continue;
    }
  }
  std::ranges::sort(list, {}, &ListedResults::folder);
  return list;
}

std::string today() {
  const chrono::year_month_day d(chrono::floor<chrono::days>(chrono::system_clock::now()));
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(d.year()),
                     static_cast<unsigned>(d.month()), static_cast<unsigned>(d.day()));
}

std::string age_text(const std::string& date, const std::string& today) {
  const auto then = day_of(date), now = day_of(today);
  if (!then || !now) return "";
  const auto days = (*now - *then).count();
  if (days <= 0) return "from today";
  return fmt::format("{} day{} old", days, days == 1 ? "" : "s");
}

}  // namespace saltus::reproduce
