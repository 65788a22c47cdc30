// Where, and for how long, the parts of an experiment were computed, over all calls that worked on
// them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace saltus::reproduce {

struct Ledger {
  std::vector<std::string> machines;
  double seconds = 0;

  std::string machine() const;  // all of them
};

// When something in the folder of finished parts last changed; the ledger itself does not count.
std::filesystem::file_time_type last_change(const std::filesystem::path& parts);

// Adds a call to the ledger in the folder of parts; one that computed nothing leaves it as it is.
Ledger add_to_ledger(const std::filesystem::path& parts, const std::string& machine, double seconds,
                     bool computed);

}  // namespace saltus::reproduce
