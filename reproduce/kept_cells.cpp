#include "reproduce/kept_cells.hpp"

#include <fmt/ranges.h>

namespace saltus::reproduce {
namespace {

constexpr const char* kName = "ledger.json";

Ledger read_ledger(const std::filesystem::path& file) {
  std::ifstream in(file);
  const Json json = Json::parse(in, nullptr, false);
  Ledger ledger;
  if (!json.is_object()) return ledger;
  ledger.machines = json.value("machines", ledger.machines);
  ledger.seconds = json.value("seconds", 0.0);
  return ledger;
}

}  // namespace

std::string Ledger::machine() const {
  return fmt::format("{}", fmt::join(machines, "; "));
}

std::filesystem::file_time_type last_change(const std::filesystem::path& parts) {
  auto newest = std::filesystem::file_time_type::min();
  std::error_code none;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(parts, none)) {
    if (!entry.is_regular_file() || entry.path().filename() == kName) continue;
    newest = std::max(newest, entry.last_write_time());
  }
  return newest;
}

Ledger add_to_ledger(const std::filesystem::path& parts, const std::string& machine, double seconds,
                     bool computed) {
  Ledger ledger = read_ledger(parts / kName);
  if (computed) {
    ledger.seconds += seconds;
    if (std::ranges::count(ledger.machines, machine) == 0) ledger.machines.push_back(machine);
    const nlohmann::json json = {{"machines", ledger.machines}, {"seconds", ledger.seconds}};
    replace_file(parts / kName, json.dump(1) + "\n");
  }
  if (ledger.machines.empty()) ledger.machines.push_back(machine);
  return ledger;
}

}  // namespace saltus::reproduce
