#include "saltus/sampler/registry.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "core/closest_name.hpp"
#include "core/number_text.hpp"
#include "saltus/core/error.hpp"
#include "saltus/sampler/composed.hpp"
#include "saltus/target/constraint.hpp"
#include "sampler/constrained/entries.hpp"
#include "sampler/entries.hpp"

namespace saltus {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& w : words) text += (text.empty() ? "" : ", ") + w;
  return text.empty() ? "none" : text;
}

bool knows(const SamplerEntry& entry, const std::string& parameter) {
  return std::find(entry.parameters.begin(), entry.parameters.end(), parameter) !=
         entry.parameters.end();
}

void check_parameters(const SamplerEntry& entry, const Settings& settings) {
  for (const auto& [key, value] : settings) {
    if (knows(entry, key)) continue;
    throw UsageError("sampler " + entry.name + " has no parameter '" + key + "'; it has " +
                     joined(entry.parameters) + did_you_mean(key, entry.parameters));
  }
}

const std::vector<SamplerEntry>& entries_for(const Target& target) {
  return target.constraint() ? constrained_sampler_entries() : sampler_entries();
}

// Null where there is none of the name.
const SamplerEntry* find_entry(const std::vector<SamplerEntry>& entries, const std::string& name) {
  const auto found = std::ranges::find(entries, name, &SamplerEntry::name);
  return found == entries.end() ? nullptr : &*found;
}

const SamplerEntry& entry_of(const std::string& name, const Target& target) {
  if (const SamplerEntry* entry = find_entry(entries_for(target), name)) return *entry;
  if (target.constraint() && find_entry(sampler_entries(), name)) {
    throw UsageError("sampler " + name + " does not keep the constraint " +
                     target.constraint()->text() +
                     "; these samplers do: " + joined(samplers_for(target)));
  }
  std::vector<std::string> names;
  for (const SamplerEntry& entry : sampler_entries()) names.push_back(entry.name);
  throw UsageError("there is no sampler '" + name + "'; there are " + joined(names) +
                   did_you_mean(name, names));
}

std::unique_ptr<Sampler> make_one(const SamplerEntry& entry, const Target& target,
                                  const Settings& settings) {
  check_parameters(entry, settings);
  auto sampler = entry.make(target, with_files_read(settings));
  try {
    require(*sampler, target);
  } catch (const UsageError& e) {
    throw UsageError(e.what() + ("; these samplers run on it: " + joined(samplers_for(target))));
  }
  return sampler;
}

// Which part a setting is for: KEY where one part alone knows it, or PART.KEY.
std::size_t part_of(const std::string& key, const std::vector<const SamplerEntry*>& parts,
                    const std::vector<std::string>& labels) {
  std::vector<std::string> forms;
  std::size_t found = 0;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    if (key.starts_with(labels[p] + ".")) return p;
    if (!knows(*parts[p], key)) continue;
    forms.push_back(labels[p] + "." + key);
    found = p;
  }
  if (forms.size() == 1) return found;
  if (!forms.empty()) {
    throw UsageError("several parts of the sampler have the parameter '" + key +
                     "': say which one, " + joined(forms));
  }
  std::string known;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    known += (p ? "; " : "") + labels[p] + " has " + joined(parts[p]->parameters);
  }
  throw UsageError("no part of the sampler has a parameter '" + key + "': " + known);
}

std::unique_ptr<Sampler> make_sequence(const std::vector<std::string>& names, const Target& target,
                                       const Settings& settings) {
  std::vector<const SamplerEntry*> entries;
  for (const std::string& name : names) entries.push_back(&entry_of(name, target));
  const std::vector<std::string> labels = part_labels(names);
  std::vector<Settings> settings_of(entries.size());
  for (const auto& [key, value] : settings) {
    const std::size_t p = part_of(key, entries, labels);
    const bool labelled = key.starts_with(labels[p] + ".");
    settings_of[p][labelled ? key.substr(labels[p].size() + 1) : key] = value;
  }
  Sequence::Parts parts;
  for (std::size_t p = 0; p < entries.size(); ++p) {
    parts.push_back(make_one(*entries[p], target, settings_of[p]));
  }
  return std::make_unique<Sequence>(std::move(parts));
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

const std::vector<SamplerEntry>& constrained_sampler_entries() {
  static const std::vector<SamplerEntry> entries = {
      constrained_dmala_entry(), constrained_gibbs_entry(),
      constrained_gwg_entry(),   constrained_locally_balanced_entry(),
      constrained_pas_entry(),
  };
  return entries;
}

std::vector<std::string> samplers_for(const Target& target) {
  std::vector<std::string> names;
  for (const SamplerEntry& entry : entries_for(target)) {
    const auto sampler = entry.make(target, {});
    if (lacking(*sampler, target).empty()) names.push_back(entry.name);
  }
  return names;
}

std::unique_ptr<Sampler> make_sampler(const std::string& name, const Target& target,
                                      const Settings& settings) {
  const std::vector<std::string> parts = split_list(name, '+');
  if (parts.size() > 1) return make_sequence(parts, target, settings);
  return make_one(entry_of(name, target), target, settings);
}

Settings as_settings(const std::string& name, const std::vector<Parameter>& parameters) {
  Settings settings;
  for (const Parameter& p : parameters) {
    const std::string key = p.name.substr(p.name.find('.') + 1);  // of a part: dmala.step_size
    if (key == "adapt") continue;
    for (const std::string& part : split_list(name, '+')) {
      const SamplerEntry *usual = find_entry(sampler_entries(), part),
                         *constrained = find_entry(constrained_sampler_entries(), part);
      if (!(usual && knows(*usual, key)) && !(constrained && knows(*constrained, key))) continue;
      settings[p.name] = std::visit([](const auto& v) { return fmt::format("{}", v); }, p.value);
    }
  }
  return settings;
}

}  // namespace saltus
