// Is a sampler right for a model? Exactly where the model is small; a result says what was checked
// and what could not be.
//
//   const VerifyResult result = verify({.target = target, .sampler = "gwg"});
//   ... result.good(), result.checks
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "saltus/sampler/registry.hpp"
#include "saltus/target/target.hpp"

namespace saltus {

struct VerifyRequest {
  std::shared_ptr<const Target> target = {};
  std::string sampler = "dmala";
  Settings settings = {};
  std::shared_ptr<const Sampler> own_sampler = {};  // in place of a name
};

struct Check {
  enum class Outcome { good, failed, skipped, note };
  std::string name;
  Outcome outcome;
  std::string detail;  // a sentence
};

struct VerifyResult {
  std::string sampler;
  std::vector<Parameter> parameters;
  std::vector<Check> checks;
  bool good() const;            // none failed
  bool kernel_checked() const;  // against its exact matrix, which only small models have
};

// Told of every check as it is done; false stops the work.
using VerifyProgress = std::function<bool(const Check&)>;

VerifyResult verify(const VerifyRequest& request, const VerifyProgress& progress = {});

}  // namespace saltus
