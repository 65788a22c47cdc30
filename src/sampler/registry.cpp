#include "saltus/sampler/registry.hpp"

#include <algorithm>

#include "saltus/core/error.hpp"
#include "saltus/sampler/dlp.hpp"
#include "sampler/settings.hpp"

namespace saltus {
namespace {

std::unique_ptr<Sampler> make_dlp(const Target& target, const Settings& settings, bool adjust) {
  DlpOptions options;
  options.adjust = adjust;
  options.step_size = number_setting(settings, "step_size");
  options.adapt = switch_setting(settings, "adapt");
  options.precondition = list_setting(settings, "precondition");
  options.window = integer_setting(settings, "window").value_or(0);
  const std::string distance = find_setting(settings, "distance").value_or("index");
  if (distance != "index" && distance != "value") {
    throw UsageError("distance=" + distance + ": distance must be index or value");
  }
  options.distance =
      distance == "index" ? DlpOptions::Distance::index : DlpOptions::Distance::value;
  return std::make_unique<Dlp>(target.domain(), std::move(options));
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& w : words) text += (text.empty() ? "" : ", ") + w;
  return text;
}

}  // namespace

const std::vector<SamplerEntry>& sampler_entries() {
  static const std::vector<std::string> dlp = {"step_size", "adapt", "precondition", "distance",
                                               "window"};
  static const std::vector<SamplerEntry> entries = {
      {"dmala", "discrete Langevin proposal with the Metropolis test: exact", dlp,
       [](const Target& t, const Settings& s) { return make_dlp(t, s, true); }},
      {"dula",
       "discrete Langevin proposal, unadjusted: faster, with a bias that grows with step_size", dlp,
       [](const Target& t, const Settings& s) { return make_dlp(t, s, false); }},
  };
  return entries;
}

std::unique_ptr<Sampler> make_sampler(const std::string& name, const Target& target,
                                      const Settings& settings) {
  std::vector<std::string> names;
  for (const SamplerEntry& entry : sampler_entries()) {
    names.push_back(entry.name);
    if (entry.name != name) continue;
    for (const auto& [key, value] : settings) {
      if (std::find(entry.parameters.begin(), entry.parameters.end(), key) ==
          entry.parameters.end()) {
        throw UsageError("sampler " + name + " has no parameter '" + key + "'; it has " +
                         joined(entry.parameters));
      }
    }
    return entry.make(target, with_files_read(settings));
  }
  throw UsageError("there is no sampler '" + name + "'; there are " + joined(names));
}

}  // namespace saltus
