// Samplers by name, with their parameters as text: what the command line offers.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "saltus/sampler/sampler.hpp"

namespace saltus {

using Settings = std::map<std::string, std::string>;  // parameter -> value

struct SamplerEntry {
  std::string name, summary;
  std::vector<std::string> parameters;
  std::unique_ptr<Sampler> (*make)(const Target& target, const Settings& settings);
  // What the target lacks for this sampler, in words that complete "the sampler needs ..."; empty
  // when it lacks nothing.
  std::string (*missing)(const Target& target);
};

const std::vector<SamplerEntry>& sampler_entries();

// The names of the samplers that can serve the target.
std::vector<std::string> samplers_for(const Target& target);

// The same settings with the contents of files in place of their names, so that they stand on their
// own in a checkpoint.
Settings with_files_read(Settings settings);

// Throws UsageError, naming what is known, for an unknown sampler, one that the target cannot
// serve, an unknown parameter or a value that does not fit.
std::unique_ptr<Sampler> make_sampler(const std::string& name, const Target& target,
                                      const Settings& settings);

}  // namespace saltus
