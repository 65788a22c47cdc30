#include "saltus/anneal/ais.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "saltus/core/error.hpp"

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

constexpr std::uint64_t kMostTuning = 1000;

// Parts of the work that must not share random numbers: seeds of their own.
enum class Part : std::uint32_t { warmup, reverse };

std::uint64_t seed_of(Part part, std::uint64_t seed) {
  const Stream stream(seed, kAllChains, 0, Purpose::start);
  const PhiloxBlock b = stream.block(static_cast<std::uint32_t>(part));
  return std::uint64_t{b[0]} << 32 | b[1];
}

const AisPlan& checked(const AisPlan& plan, const Sampler& sampler, const Tempered& path) {
  check_plan(plan.annealing);
  check_annealing(sampler, path);
  if (plan.reverse && plan.warmup < 1) {
    throw UsageError("the reverse direction needs warm-up steps to start from");
  }
  return plan;
}

// Steps at beta = 1: the chains in which a sampler is tuned, and that the reverse direction starts
// from.
RunPlan warmup_plan(const AisPlan& plan, bool tuned) {
  RunPlan run;
  run.chains = plan.annealing.chains;
  run.first_chain = plan.annealing.first_chain;
  run.reduction = plan.annealing.reduction;
  run.team = plan.annealing.team;
  run.seed = seed_of(Part::warmup, plan.annealing.seed);
  run.threads = plan.annealing.threads;
  run.tile = plan.annealing.tile;
  run.warmup = tuned ? std::min(kMostTuning, (plan.warmup + 1) / 2) : 0;
  run.draws = plan.reverse ? std::max<std::uint64_t>(1, plan.warmup - run.warmup) : 0;
  return run;
}

// Draws of the base, each changed until the model allows it.
RowBuffer<Symbol> allowed_draws(const Target& model, const Independent& base, const RunPlan& plan) {
  RowBuffer<Symbol> states(plan.chains, base.domain().dim());
  for (int chain = 0; chain < plan.chains; ++chain) {
    const std::uint32_t name = plan.first_chain + static_cast<std::uint32_t>(chain);
    const Stream stream(plan.seed, name, 0, Purpose::start);
    base.draw(stream, states.view()[chain]);
    if (const ForbiddenStates* forbidden = model.forbidden_states()) {
      allow(*forbidden, plan.seed, name, states.view()[chain]);
    }
  }
  return states;
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

AisRun::AisRun(const Tempered& path, std::unique_ptr<Sampler> sampler, const AisPlan& plan,
               Rows<const Symbol> start)
    : path_(path),
      plan_(checked(plan, *sampler, path)),
      tuned_(sampler->tunable() != nullptr),
      warms_up_(plan.reverse || tuned_),
      run_(path_.model(), std::move(sampler), warmup_plan(plan, tuned_)) {
  if (!warms_up_) {
    begin(kForward);
  } else if (start) {
    run_.start(start);
  } else {
    run_.start(allowed_draws(path_.model(), path_.base(), run_.plan()).view());
  }
}

// Makes what the stage works on, as it is at the stage's beginning.
void AisRun::begin(Stage stage) {
  stage_ = stage;
  AnnealingPlan plan = plan_.annealing;
  if (stage == kForward) {
    forward_ =
        std::make_unique<Annealing>(path_, run_.sampler(), plan, Annealing::Direction::forward);
    forward_->start();
  } else if (stage == kReverse) {
    plan.seed = seed_of(Part::reverse, plan.seed);
    reverse_ =
        std::make_unique<Annealing>(path_, run_.sampler(), plan, Annealing::Direction::reverse);
    const RowBuffer<Symbol> states(plan.chains, path_.domain().dim());
    for (int chain = 0; chain < plan.chains; ++chain) {
      std::copy_n(run_.state(chain), path_.domain().dim(), states.view()[chain]);
    }
    reverse_->start(states.view());
  }
}

bool AisRun::warm_up(const Proceed& proceed) {
  return run_.go([&](const RunStatus& s) {
    const double done = static_cast<double>(s.step) / static_cast<double>(s.steps);
    return !proceed || proceed({AisStatus::Stage::warmup, done});
  });
}

bool AisRun::anneal(Annealing& annealing, AisStatus::Stage stage, const Proceed& proceed) {
  return annealing.go([&](std::size_t made, std::size_t all) {
    const double done = static_cast<double>(made) / static_cast<double>(all);
    return !proceed || proceed({stage, done});
  });
}

bool AisRun::go(const Proceed& proceed) {
  const auto begun = std::chrono::steady_clock::now();
  // A stage that was stopped stays where it is.
  if (stage_ == kWarmup && warm_up(proceed)) begin(kForward);
  if (stage_ == kForward && anneal(*forward_, AisStatus::Stage::forward, proceed)) {
    begin(plan_.reverse ? kReverse : kDone);
  }
  if (stage_ == kReverse && anneal(*reverse_, AisStatus::Stage::reverse, proceed)) begin(kDone);
  seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  return done();
}

AisEstimate AisRun::estimate(const Annealing& annealing, bool forward) const {
  std::vector<double> weights(annealing.log_weights().begin(), annealing.log_weights().end());
  AisEstimate e =
      forward ? forward_estimate(std::move(weights)) : reverse_estimate(std::move(weights));
  e.acceptance = annealing.acceptance();
  return e;
}

AisResult AisRun::result() const {
  AisResult result;
  result.parameters = run_.sampler().parameters();
  result.forward = estimate(*forward_, true);
  const std::vector<double>& weights = result.forward.log_weights;
  const auto dead = std::ranges::count(weights, -INFINITY);
  if (dead == std::ssize(weights)) {
    throw DataError(
        "every annealed chain started in a state that the model forbids, so that their "
        "weights say nothing of log Z: estimate it by tempering, or take more chains");
  }
  if (reverse_) result.reverse = estimate(*reverse_, false);
  // Reverse chains end in allowed states alone: their mean weight is the probability of these under
  // the base, divided by Z.
  if (reverse_ && dead > 0) {
    const auto chains = static_cast<double>(weights.size());
    const double alive = (chains - static_cast<double>(dead)) / chains;
    result.reverse->log_z += std::log(alive);
    result.reverse->standard_error =
        std::hypot(result.reverse->standard_error, std::sqrt((1 - alive) / (alive * chains)));
  }
  result.seconds = seconds_;
  return result;
}

void AisRun::save(ByteWriter& out) const {
  out.put(stage_);
  out.put(seconds_);
  if (warms_up_) run_.save(out);
  if (stage_ >= kForward) forward_->save(out);
  if (reverse_) reverse_->save(out);
}

void AisRun::restore(ByteReader& in) {
  const auto stage = in.get<Stage>();
  if (stage > kDone) throw DataError("the saved estimate is at no known stage");
  seconds_ = in.get<double>();
  if (warms_up_) run_.restore(in);
  if (stage >= kForward) {
    begin(kForward);
    forward_->restore(in);
  }
  if (stage >= kReverse && plan_.reverse) {
    begin(kReverse);
    reverse_->restore(in);
  }
  stage_ = stage;
}

std::optional<AisResult> annealed_importance_sampling(
    const Tempered& path, std::unique_ptr<Sampler> sampler, const AisPlan& plan,
    const std::function<bool(const AisStatus&)>& proceed) {
  AisRun run(path, std::move(sampler), plan);
  if (!run.go(proceed)) return std::nullopt;
  return run.result();
}

}  // namespace saltus
