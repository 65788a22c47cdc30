#include "saltus/run/run.hpp"

#include <algorithm>
#include <chrono>
#include <limits>

#include "saltus/core/error.hpp"

namespace saltus {
namespace {

// Warm-up has at least this many tuning rounds, and none is longer than that many steps.
constexpr std::uint64_t kTuningRounds = 100, kTuningSteps = 100;
constexpr std::uint64_t kStillSteps = 100;  // a chain that moves less often stands still
constexpr std::size_t kRoundBytes = std::size_t{32} << 20;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

// Adds up what a round's steps did and passes the draws on.
class Run::Observer final : public StepObserver {
 public:
  Observer(Run& run, bool draws) : run_(run), draws_(draws) {
    for (Recorder* r : run.recorders_) wants_logp_ = wants_logp_ || r->wants_logp();
    std::fill(run.round_acceptance_.begin(), run.round_acceptance_.end(), 0.0);
  }

  bool wants_logp(std::uint64_t step) const override { return wants_logp_ && wants_states(step); }
  bool wants_states(std::uint64_t step) const override {
    return draws_ && (step + 1) % run_.plan_.thin == 0;
  }

  void after_step(const Tile& tile, std::span<const StepInfo> info, std::uint64_t step) override {
    for (std::size_t r = 0; r < info.size(); ++r) {
      run_.round_acceptance_[tile.first_slot + r] += info[r].acceptance;
    }
    if (!draws_) {
      for (std::size_t r = 0; run_.tuner_ && r < info.size(); ++r) {
        run_.tuner_->sums().add(tile.first_slot + r, info[r]);
      }
      return;
    }
    for (std::size_t r = 0; r < info.size(); ++r) {
      ChainTotals& t = run_.totals_[tile.first_slot + r];
      t.acceptance += info[r].acceptance;
      t.accepted += info[r].accepted;
      t.proposed += info[r].proposed;
      t.changed += info[r].changed;
      t.empty += info[r].proposed == 0;
      t.moved += info[r].changed > 0;
      t.nonfinite += info[r].nonfinite;
    }
    if ((step + 1) % run_.plan_.thin != 0) return;
    for (Recorder* recorder : run_.recorders_) recorder->record(tile, info, step / run_.plan_.thin);
  }

 private:
  Run& run_;
  bool draws_, wants_logp_ = false;
};

Run::Run(const Target& target, std::shared_ptr<const Sampler> sampler, const RunPlan& plan)
    : target_(target),
      original_(std::move(sampler)),
      plan_(plan),
      ensemble_({{&target, plan.chains}},
                {plan.seed, plan.threads, original_->interacting() ? plan.chains : plan.tile,
                 plan.first_chain}),
      totals_(static_cast<std::size_t>(plan.chains)),
      round_acceptance_(static_cast<std::size_t>(plan.chains)) {
  if (plan_.thin < 1) throw UsageError("thin must be at least 1");
  require(*original_, target);
  if (target.stochastic() && original_->tunable()) {
    throw UsageError("the gradient of " + target.name() +
                     " is a mini-batch estimate, so there is no Metropolis test to tune " +
                     original_->name() + " by: give the " +
                     original_->tunable()->tuning().front().parameter);
  }
  if (original_->tunable() && plan_.warmup > 0) {
    tuning_length_ = std::clamp<std::uint64_t>(plan_.warmup / kTuningRounds, 1, kTuningSteps);
    tuner_.emplace(original_, plan_.chains, (plan_.warmup + tuning_length_ - 1) / tuning_length_,
                   plan_.reduction);
    current_ = tuner_->sampler(Tunable::Phase::warmup);
  } else {
    current_ = original_;
  }
}

void Run::start() {
  ensemble_.start_random();
  ensemble_.evaluate();
  started_ = true;
}

void Run::start(Rows<const Symbol> states) {
  ensemble_.start_from(states);
  ensemble_.evaluate();
  started_ = true;
}

std::uint64_t Run::draws_made() const {
  return warming_up() ? 0 : (ensemble_.step() - plan_.warmup) / plan_.thin;
}

bool Run::go(const std::function<bool(const RunStatus&)>& between_rounds) {
  if (!started_) start();
  const auto start = std::chrono::steady_clock::now();
  const std::uint64_t steps = plan_.warmup + plan_.draws * plan_.thin;
  while (ensemble_.step() < steps) {
    const bool warming = warming_up();
    const std::uint64_t before = ensemble_.step();
    const auto round_start = std::chrono::steady_clock::now();
    const double processor_start = processor_seconds();
    warming ? warmup_round() : draw_round();
    round_seconds_ = seconds_since(round_start);
    seconds_ += round_seconds_;
    if (!warming) {
      seconds_of_draws_ += round_seconds_;
      idle_seconds_of_draws_ += target_.on_device()
                                    ? round_seconds_
                                    : (processor_seconds() - processor_start) / ensemble_.threads();
    }
    const auto done = static_cast<double>(ensemble_.step() - before);
    const RunStatus status{warming,
                           ensemble_.step(),
                           steps,
                           seconds_since(start),
                           done / round_seconds_,
                           acceptance_of_round() / done};
    if (between_rounds && !between_rounds(status)) break;
  }
  return ensemble_.step() >= steps;
}

// A round that takes about plan_.round_seconds, in units of `unit` steps. Its length depends on the
// clock, but no draw depends on its length.
std::uint64_t Run::round_length(std::uint64_t left, std::uint64_t unit) const {
  std::uint64_t length = round_steps_;
  if (round_seconds_ < plan_.round_seconds / 2) length *= 2;
  if (round_seconds_ > plan_.round_seconds * 2) length /= 2;
  std::size_t bytes = 1;
  for (const Recorder* r : recorders_) bytes += r->bytes_per_draw();
  length = std::min<std::uint64_t>(length, std::max<std::uint64_t>(1, kRoundBytes / bytes) * unit);
  return std::min(left, std::max<std::uint64_t>(1, length / unit) * unit);
}

void Run::warmup_round() {
  const std::uint64_t left = plan_.warmup - ensemble_.step();
  if (!tuner_) {
    round_steps_ = round_length(left, 1);
    Observer observer(*this, false);
    ensemble_.advance(*current_, round_steps_, observer);
  } else {
    // Tuning happens at fixed steps, whatever the clock says.
    const std::uint64_t length = std::min(left, tuning_length_);
    Observer observer(*this, false);
    ensemble_.advance(*current_, length, observer);
    tuner_->end_round();
    current_ = tuner_->sampler(length == left ? Tunable::Phase::draws : Tunable::Phase::warmup);
  }
  if (!warming_up()) begin_draws();
}

void Run::begin_draws() {
  ensemble_.reset_evaluations();
  evaluations_before_ = {};
}

void Run::end_warmup() {
  if (!warming_up()) return;
  plan_.warmup = ensemble_.step();
  if (tuner_) current_ = tuner_->sampler(Tunable::Phase::draws);
  begin_draws();
}

void Run::draw_round() {
  const std::uint64_t left = plan_.warmup + plan_.draws * plan_.thin - ensemble_.step();
  round_steps_ = round_length(left, plan_.thin);
  for (Recorder* r : recorders_) r->begin_round(round_steps_ / plan_.thin);
  Observer observer(*this, true);
  ensemble_.advance(*current_, round_steps_, observer);
  for (Recorder* r : recorders_) r->end_round();
}

// Summed over steps, averaged over chains; in the order of the chains, so that it never depends on
// which thread ran which tile.
double Run::acceptance_of_round() const {
  double sum = 0;
  for (double a : round_acceptance_) sum += a;
  return sum / static_cast<double>(round_acceptance_.size());
}

RunStatistics Run::statistics() const {
  RunStatistics s;
  s.seconds = seconds_;
  s.seconds_of_draws = seconds_of_draws_;
  s.idle_seconds_of_draws = idle_seconds_of_draws_;
  s.steps = warming_up() ? 0 : ensemble_.step() - plan_.warmup;
  const double n = static_cast<double>(s.steps) * plan_.chains;
  for (const ChainTotals& t : totals_) {
    s.acceptance += t.acceptance;
    s.accepted += static_cast<double>(t.accepted);
    s.proposed += static_cast<double>(t.proposed);
    s.changed += static_cast<double>(t.changed);
    s.empty += static_cast<double>(t.empty);
    s.moved += static_cast<double>(t.moved);
    s.still_chains += s.steps >= kStillSteps && t.moved * kStillSteps < s.steps;
    s.nonfinite += t.nonfinite;
  }
  for (double* sum : {&s.acceptance, &s.accepted, &s.proposed, &s.changed, &s.empty, &s.moved}) {
    *sum /= n;
  }
  const Evaluations e = ensemble_.evaluations();
  s.logp_evaluations = static_cast<double>(e.logp + evaluations_before_.logp) / n;
  s.gradient_evaluations = static_cast<double>(e.gradient + evaluations_before_.gradient) / n;
  s.local_differences = static_cast<double>(e.local + evaluations_before_.local) / n;
  return s;
}

void Run::save(ByteWriter& out) const {
  ensemble_.save(out);
  if (tuner_) tuner_->save(out);
  out.put_array(std::span<const ChainTotals>(totals_));
  Evaluations e = ensemble_.evaluations();
  e.logp += evaluations_before_.logp;
  e.gradient += evaluations_before_.gradient;
  e.local += evaluations_before_.local;
  out.put(e, seconds_, seconds_of_draws_);
  for (const Recorder* r : recorders_) r->save(out);
}

void Run::restore(ByteReader& in) {
  ensemble_.restore(in);
  started_ = true;
  if (ensemble_.step() > plan_.warmup + plan_.draws * plan_.thin) {
    throw UsageError("the saved run has already made more draws than are asked for");
  }
  if (tuner_) {
    tuner_->restore(in);
    current_ = tuner_->sampler(warming_up() ? Tunable::Phase::warmup : Tunable::Phase::draws);
  }
  in.get_array(std::span<ChainTotals>(totals_));
  in.get(evaluations_before_, seconds_, seconds_of_draws_);
  for (Recorder* r : recorders_) r->restore(in);
}

}  // namespace saltus
