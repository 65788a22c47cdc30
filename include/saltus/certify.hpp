// How many steps until a chain's law is close to the model? Coupled chains give an upper bound of
// the distance, and means without the bias of the start; or the statement that some pairs of chains
// have not met.
//
//   const CertifyResult result = certify({.target = target, .settings = {{"step_size", "0.4"}}});
//   if (result.certified()) ... *result.below_hundredth, result.curve
//   else ... result.unmet of result.pairs pairs
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "saltus/couple/meeting.hpp"
#include "saltus/sampler/registry.hpp"
#include "saltus/target/target.hpp"

namespace saltus {

struct CertifyRequest {
  std::shared_ptr<const Target> target = {};
  // dmala, gibbs (which makes sweeps unless told otherwise), gwg or pas.
  std::string sampler = "dmala";
  Settings settings = {};
  int pairs = 500;
  std::optional<std::uint64_t> lag = {};  // none: the 90 % quantile of the times of pilot pairs
  std::uint64_t max_steps = 100'000;      // after which a pair counts as unmet
  std::uint64_t warmup = 1000;            // steps that tune a sampler without a step size
  std::uint64_t seed = 1;
  int threads = 0;  // 0: all cores; never changes a result
};

struct BoundAt {
  std::uint64_t step = 0;
  DistanceBound value;
  std::optional<double> exact;  // the distance itself, where the model is small
};

struct UnbiasedMean {
  int coordinate = -1;  // -1: log p
  double mean = 0, standard_error = 0;
  std::optional<double> exact;  // of a coordinate, where the model is small
};

struct CertifyResult {
  std::string sampler;
  std::vector<Parameter> parameters;  // as tuned
  bool tuned = false;
  bool complete = false;  // false: stopped by the caller
  int pairs = 0, unmet = 0;
  std::uint64_t lag = 0, max_steps = 0;
  std::vector<std::uint64_t> times;  // tau - lag of the pairs that met, in increasing order
  double seconds = 0;

  // Only where every pair has met:
  bool certified() const { return complete && unmet == 0; }
  std::vector<BoundAt> curve;
  // The first step with a bound below 0.25 and 0.01; none where there are too few pairs to tell,
  // fewer than 12 and 300.
  std::optional<std::uint64_t> below_quarter, below_hundredth;
  std::optional<EstimateWindow> window;  // none: some pilot pair had not met, so no means
  std::vector<UnbiasedMean> means;

  // The smallest time that at least this share of the pairs that met did not exceed.
  std::uint64_t quantile(double share) const;
};

struct CertifyStatus {
  bool pilot = false;
  int done = 0, pairs = 0;
};
// Told now and then; false stops the work.
using CertifyProgress = std::function<bool(const CertifyStatus&)>;

// Throws UsageError, DataError.
CertifyResult certify(const CertifyRequest& request, const CertifyProgress& progress = {});

}  // namespace saltus
