// The sampler for a model, chosen by a short race: what `--sampler auto` does.
#pragma once

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "saltus/compare/race.hpp"

namespace saltus {

// What is left of a contender after the race.
struct Standing {
  Contender contender;
  double ess_per_second = NAN, rhat = NAN;
  bool mixed = false;
  int replicas = 0;  // of a tempered contender
};

// A short race among the exact samplers that the target supports, half of the field dropping out at
// each turn. Where the chains of the best seem to miss modes, it is raced once more along a ladder
// of temperatures, and is to be tempered if that does better.
struct Choice {
  Contender winner;
  std::vector<Standing> results;  // in the order of dropping out, the winner last
  double seconds = 0;
  bool kept = false;           // from an earlier run's race (SampleRequest::cache)
  std::string modes;           // what spoke for tempering, where it was raced (sign_of_modes)
  std::string reason() const;  // why the winner won
};
struct NoExactSampler : UsageError {  // none can serve the target
  using UsageError::UsageError;
};
struct ChoiceOptions {
  // Takes about so long; 0: a quarter of what the planned run would take with the first sampler,
  // within reason.
  double seconds = 0;
  // For the samplers that have these parameters. Throws UsageError where none has one of them, or
  // none takes its value.
  Settings settings = {};
  // May the winner be tempered, and where does its ladder begin (null: uniform)?
  bool tempering = true;
  std::shared_ptr<const Independent> base = nullptr;
};
Choice choose_sampler(const Target& target, const RunPlan& plan, const ChoiceOptions& options = {});

}  // namespace saltus
