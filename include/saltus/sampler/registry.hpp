// Samplers by name, with their parameters as text: what the command line offers.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "saltus/sampler/sampler.hpp"
#include "saltus/sampler/settings.hpp"

namespace saltus {

struct SamplerEntry {
  std::string name, summary;
  std::vector<std::string> parameters;
  std::unique_ptr<Sampler> (*make)(const Target& target, const Settings& settings);
};

const std::vector<SamplerEntry>& sampler_entries();
// Those that serve a target with a constraint, under the names of the samplers that they condition.
const std::vector<SamplerEntry>& constrained_sampler_entries();

// The names of the samplers that can serve the target.
std::vector<std::string> samplers_for(const Target& target);

// The sampler of that name, or the Sequence of several: "dmala+gwg". A setting of a sequence goes
// to the part that knows it; where several do, it is written PART.KEY ("dmala.window"; the second
// part of one name is "dmala2"). Throws UsageError, naming what is known, for an unknown sampler,
// one that the target cannot serve, an unknown or ambiguous parameter or a value that does not fit.
std::unique_ptr<Sampler> make_sampler(const std::string& name, const Target& target,
                                      const Settings& settings);

// The parameters of such a sampler as the settings that make it again, with what was tuned as it
// is.
Settings as_settings(const std::string& name, const std::vector<Parameter>& parameters);

}  // namespace saltus
