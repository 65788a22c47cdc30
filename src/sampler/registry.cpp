#include "saltus/sampler/registry.hpp"

#include <algorithm>

#include "saltus/core/error.hpp"
#include "sampler/entries.hpp"

namespace saltus {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& w : words) text += (text.empty() ? "" : ", ") + w;
  return text.empty() ? "none" : text;
}

void check_parameters(const SamplerEntry& entry, const Settings& settings) {
  for (const auto& [key, value] : settings) {
    if (std::find(entry.parameters.begin(), entry.parameters.end(), key) !=
        entry.parameters.end()) {
      continue;
    }
    throw UsageError("sampler " + entry.name + " has no parameter '" + key + "'; it has " +
                     joined(entry.parameters));
  }
}

void check_abilities(const SamplerEntry& entry, const Target& target) {
  const std::string missing = entry.missing(target);
  if (missing.empty()) return;
  throw UsageError("sampler " + entry.name + " needs " + missing + ", which the model " +
                   target.name() +
                   " does not have; these samplers run on it: " + joined(samplers_for(target)));
}

}  // namespace

const std::vector<SamplerEntry>& sampler_entries() {
  static const std::vector<SamplerEntry> entries = {
      dmala_entry(),
      dula_entry(),
      gibbs_entry(),
      gwg_entry(),
      locally_balanced_entry(),
      pas_entry(),
      dlmc_entry(),
      hamming_ball_entry(),
      rwm_entry(),
      rmala_entry(),
      block_gibbs_entry(),
      dsvgd_entry(),
  };
  return entries;
}

std::vector<std::string> samplers_for(const Target& target) {
  std::vector<std::string> names;
  for (const SamplerEntry& entry : sampler_entries()) {
    if (entry.missing(target).empty()) names.push_back(entry.name);
  }
  return names;
}

std::unique_ptr<Sampler> make_sampler(const std::string& name, const Target& target,
                                      const Settings& settings) {
  std::vector<std::string> names;
  for (const SamplerEntry& entry : sampler_entries()) {
    names.push_back(entry.name);
    if (entry.name != name) continue;
    check_abilities(entry, target);
    check_parameters(entry, settings);
    return entry.make(target, with_files_read(settings));
  }
  throw UsageError("there is no sampler '" + name + "'; there are " + joined(names));
}

}  // namespace saltus
