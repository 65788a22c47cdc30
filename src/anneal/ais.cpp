#include "saltus/anneal/ais.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/anneal/ais_run.hpp"

namespace saltus {
namespace {

// log of the mean weight, with the rest of an estimate. With relative weights v = w / max w, the
// mean's relative standard error is sd(v) / (sqrt(m) mean(v)).
AisEstimate log_mean(std::vector<double> log_weights) {
  const auto m = static_cast<double>(log_weights.size());
  const double top = *std::max_element(log_weights.begin(), log_weights.end());
  double sum = 0, squares = 0;
  for (double l : log_weights) {
    const double v = std::exp(l - top);
    sum += v;
    squares += v * v;
  }
  AisEstimate e;
  e.log_z = top + std::log(sum / m);
  e.ess = sum * sum / squares;
  double spread = 0;
  for (double l : log_weights) {
    const double d = std::exp(l - top) * m / sum - 1;
    spread += d * d;
  }
  e.standard_error = std::sqrt(spread / (m - 1) / m);
  e.log_weights = std::move(log_weights);
  return e;
}

}  // namespace

AisEstimate forward_estimate(std::vector<double> log_weights) {
  return log_mean(std::move(log_weights));
}

AisEstimate reverse_estimate(std::vector<double> log_weights) {
  AisEstimate e = log_mean(std::move(log_weights));
  e.log_z = -e.log_z;
  return e;
}

double log_z_floor(double forward_log_z) {
  return forward_log_z - std::log(20.0);
}

double AisResult::low() const {
  return forward.log_z - 2 * forward.standard_error;
}

double AisResult::high() const {
  return reverse ? reverse->log_z + 2 * reverse->standard_error : INFINITY;
}

std::optional<AisResult> annealed_importance_sampling(
    const Tempered& path, std::unique_ptr<Sampler> sampler, const AisPlan& plan,
    const std::function<bool(const AisStatus&)>& proceed) {
  AisRun run(path, std::move(sampler), plan);
  if (!run.go(proceed)) return std::nullopt;
  return run.result();
}

}  // namespace saltus
