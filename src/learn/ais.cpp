#include "saltus/learn/ais.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "saltus/core/error.hpp"
#include "saltus/run/run.hpp"

namespace saltus {
namespace {

constexpr std::uint64_t kMostTuning = 1000;

// Parts of the work that must not share random numbers: seeds of their own.
enum class Part : std::uint32_t { warmup, reverse };

std::uint64_t seed_of(Part part, std::uint64_t seed) {
  const Stream stream(seed, kAllChains, 0, Purpose::start);
  const PhiloxBlock b = stream.block(static_cast<std::uint32_t>(part));
  return std::uint64_t{b[0]} << 32 | b[1];
}

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

// Steps at beta = 1: the chains in which a sampler is tuned, and that the reverse direction starts
// from.
RunPlan warmup_plan(const AisPlan& plan, bool tuned) {
  RunPlan run;
  run.chains = plan.annealing.chains;
  run.seed = seed_of(Part::warmup, plan.annealing.seed);
  run.threads = plan.annealing.threads;
  run.tile = plan.annealing.tile;
  run.warmup = tuned ? std::min(kMostTuning, (plan.warmup + 1) / 2) : 0;
  run.draws = plan.reverse ? 1 : 0;
  run.thin = std::max<std::uint64_t>(1, plan.warmup - run.warmup);
  return run;
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

double AisResult::low() const {
  return forward.log_z - 2 * forward.standard_error;
}

double AisResult::high() const {
  return reverse ? reverse->log_z + 2 * reverse->standard_error : INFINITY;
}

namespace {

using Proceed = std::function<bool(const AisStatus&)>;
using Stage = AisStatus::Stage;
using Direction = Annealing::Direction;

bool warm_up(saltus::Run& run, const Tempered& path, const Proceed& proceed) {
  const RunPlan& plan = run.plan();
  const RowBuffer<Symbol> states(plan.chains, path.domain().dim());
  for (int chain = 0; chain < plan.chains; ++chain) {
    const Stream stream(plan.seed, static_cast<std::uint32_t>(chain), 0, Purpose::start);
    path.base().draw(stream, states.view()[chain]);
  }
  run.start(states.view());
  return run.go([&](const RunStatus& s) {
    const double done = static_cast<double>(s.step) / static_cast<double>(s.steps);
    return !proceed || proceed({Stage::warmup, done});
  });
}

bool anneal(Annealing& annealing, Stage stage, const Proceed& proceed) {
  return annealing.go([&](std::size_t made, std::size_t all) {
    const double done = static_cast<double>(made) / static_cast<double>(all);
    return !proceed || proceed({stage, done});
  });
}

std::vector<double> weights_of(const Annealing& annealing) {
  return {annealing.log_weights().begin(), annealing.log_weights().end()};
}

}  // namespace

std::optional<AisResult> annealed_importance_sampling(const Tempered& path,
                                                      std::unique_ptr<Sampler> sampler,
                                                      const AisPlan& plan, const Proceed& proceed) {
  const auto begin = std::chrono::steady_clock::now();
  check_plan(plan.annealing);
  check_annealing(*sampler, path);
  if (plan.reverse && plan.warmup < 1) {
    throw UsageError("the reverse direction needs warm-up steps to start from");
  }
  Tempered model = path;
  model.set_beta(1);
  const bool tuned = sampler->tuning().has_value();
  saltus::Run run(model, std::move(sampler), warmup_plan(plan, tuned));
  if ((tuned || plan.reverse) && !warm_up(run, model, proceed)) return std::nullopt;

  AisResult result;
  result.parameters = run.sampler().parameters();
  {
    Annealing forward(path, run.sampler(), plan.annealing, Direction::forward);
    forward.start();
    if (!anneal(forward, Stage::forward, proceed)) return std::nullopt;
    result.forward = forward_estimate(weights_of(forward));
    result.forward.acceptance = forward.acceptance();
  }
  if (plan.reverse) {
    AnnealingPlan back = plan.annealing;
    back.seed = seed_of(Part::reverse, plan.annealing.seed);
    Annealing reverse(path, run.sampler(), back, Direction::reverse);
    const RowBuffer<Symbol> states(back.chains, path.domain().dim());
    for (int chain = 0; chain < back.chains; ++chain) {
      std::copy_n(run.state(chain), path.domain().dim(), states.view()[chain]);
    }
    reverse.start(states.view());
    if (!anneal(reverse, Stage::reverse, proceed)) return std::nullopt;
    result.reverse = reverse_estimate(weights_of(reverse));
    result.reverse->acceptance = reverse.acceptance();
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return result;
}

}  // namespace saltus
