// Which sampler is best for a model? A fair race, its verdict and, where the model is small, how
// far everyone is from the exact answer.
//
//   const CompareResult result = compare({.target = target});
//   if (result.per_second.best >= 0) ... result.results[result.per_second.best].contender.sampler
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "saltus/compare/race.hpp"
#include "saltus/diagnose/exact.hpp"

namespace saltus {

struct CompareRequest {
  std::shared_ptr<const Target> target = {};
  // Empty: all samplers that the target supports.
  std::vector<Contender> contenders = {};
  RacePlan plan = {};
  // Processes among which the contenders are dealt out, all with this request. The result is the
  // leader's.
  Team* team = nullptr;
};

struct CompareResult {
  std::vector<RaceResult> results;
  std::vector<double> error;  // root mean square error of the means, NaN where unknown
  std::vector<double> bias;   // L1 distance of the stationary law from the model, NaN where unknown
  std::optional<ExactAnswer> exact;
  Verdict per_second, per_evaluation;  // without a winner where no exact contender has mixed
  // Why the best is raced tempered, too, where it is: plain chains seem to miss modes.
  std::string modes;
  bool complete = true;  // not stopped; a stopped race has no results
  double seconds = 0;
};

// Throws UsageError when a contender does not suit the target.
CompareResult compare(const CompareRequest& request, const RaceProgress& progress = {});

}  // namespace saltus
