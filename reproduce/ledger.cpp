#include "reproduce/ledger.hpp"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "io/bytes/byte_file.hpp"

namespace saltus::reproduce {
namespace {

constexpr const char* kName = "ledger.json";

Ledger read_ledger(const std::filesystem::path& file) {
  std::ifstream in(file);
  const auto json = nlohmann::json::parse(in, nullptr, false);
  Ledger ledger;
  if (!json.is_object()) return ledger;
  ledger.machines = json.value("machines", ledger.machines);
  ledger.seconds = json.value("seconds", 0.0);
  return ledger;
}

}  // namespace

std::string Ledger::machine() const {
  std::string text;
  for (const std::string& m : machines) text += (text.empty() ? "" : "; ") + m;
  return text;
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
  const auto& known = ledger.machines;
  if (computed) {
    ledger.seconds += seconds;
    if (std::find(known.begin(), known.end(), machine) == known.end()) {
      ledger.machines.push_back(machine);
    }
    const nlohmann::json json = {{"machines", ledger.machines}, {"seconds", ledger.seconds}};
    replace_file(parts / kName, json.dump(1) + "\n");
  }
  if (ledger.machines.empty()) ledger.machines.push_back(machine);
  return ledger;
}

}  // namespace saltus::reproduce
