// A sampler that takes part in an experiment.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

#include "reproduce/experiment.hpp"
#include "saltus/sampler/registry.hpp"

namespace saltus::reproduce {

struct Entrant {
  std::string label, sampler;  // as the paper names it, as the registry does
  double alpha = NAN;          // where it has a step size; infinite: no step-size term
  Settings settings = {};      // beside the step size
  int batch = 0;               // of the target's data; 0: all of it

  std::string name() const;  // the label, with the step size of DULA and DMALA
  // `others` with the sampler and its step size.
  Json setting(Json others = Json::object()) const;
  std::unique_ptr<Sampler> make(const Target& target) const;
};

// The one of some standings whose entrant has that name.
template <class Standing>
const Standing& named(const std::vector<Standing>& all, const std::string& name) {
  return *std::ranges::find(all, name, [](const Standing& s) { return s.entrant.name(); });
}

}  // namespace saltus::reproduce
