// What speaks against a result: services return it beside the result, for people and for programs.
#pragma once

#include <string>
#include <vector>

namespace saltus {

struct Warning {
  std::string code;      // one word for programs; docs/formats.md lists them
  std::string sentence;  // for people, with its full stop
};

using Warnings = std::vector<Warning>;

// ok: nothing speaks against the result. wrong: it contradicts an exact answer. Otherwise doubtful.
inline std::string verdict_of(const Warnings& warnings) {
  for (const Warning& w : warnings) {
    if (w.code == "exact") return "wrong";
  }
  return warnings.empty() ? "ok" : "doubtful";
}

}  // namespace saltus
