#include "saltus/run/run.hpp"

#include <algorithm>

#include "saltus/core/error.hpp"
#include "saltus/sampler/gibbs.hpp"

namespace saltus {
namespace {

// Warm-up has at least this many tuning rounds, and none is longer than that many steps.
constexpr std::uint64_t kTuningRounds = 100, kTuningSteps = 100;

// Sweeps before the first step, under numbers of steps that no run reaches.
constexpr std::uint64_t kSettlingSweeps = 3, kSettlingStep = std::uint64_t{1} << 60;

struct NoObserver final : StepObserver {
  bool wants_logp(std::uint64_t) const override { return false; }
  bool wants_states(std::uint64_t) const override { return false; }
  void after_step(const Tile&, std::span<const StepInfo>, std::uint64_t) override {}
};

}  // namespace

// Adds up what a round's steps did and passes the draws on.
class Run::Observer final : public StepObserver {
 public:
  Observer(Run& run, bool draws)
      : run_(run), thin_(run.plan_.thin), draws_(draws), wants_logp_(run.recorders_want_logp()) {}

  bool wants_logp(std::uint64_t step) const override { return wants_logp_ && wants_states(step); }
  bool wants_states(std::uint64_t step) const override { return draws_ && ends_draw(step); }

  void after_step(const Tile& tile, std::span<const StepInfo> info, std::uint64_t step) override {
    for (std::size_t r = 0; r < info.size(); ++r) run_.add_to_round(tile.first_slot + r, info[r]);
    if (!draws_) {
      for (std::size_t r = 0; run_.tuner_ && r < info.size(); ++r) {
        run_.tuner_->sums().add(tile.first_slot + r, info[r]);
      }
      return;
    }
    for (std::size_t r = 0; r < info.size(); ++r) run_.add_to_totals(tile.first_slot + r, info[r]);
    if (ends_draw(step)) run_.record(tile, info, thin_ == 1 ? step : step / thin_);
  }

  bool takes_sums() const override { return true; }
  void after_steps(std::uint32_t first_slot, std::span<const StepSums> sums) override {
    for (std::size_t r = 0; r < sums.size(); ++r) {
      run_.add_to_round(first_slot + r, sums[r]);
      if (draws_) {
        run_.add_to_totals(first_slot + r, sums[r]);
      } else if (run_.tuner_) {
        run_.tuner_->sums().add(first_slot + r, sums[r]);
      }
    }
  }

 private:
  // Without a division where every step is a draw: small models step in 100 ns.
  bool ends_draw(std::uint64_t step) const { return thin_ == 1 || (step + 1) % thin_ == 0; }

  Run& run_;
  std::uint64_t thin_;
  bool draws_, wants_logp_;
};

Run::Run(const Target& target, std::shared_ptr<const Sampler> sampler, const RunPlan& plan)
    : DrawingRun(plan),
      target_(target),
      original_(std::move(sampler)),
      ensemble_({{&target, plan.chains}},
                {plan.seed, plan.threads, original_->interacting() ? plan.chains : plan.tile,
                 plan.first_chain}) {
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
  if (plan_.start == Start::dispersed) {
    ensemble_.start_dispersed();
    settle();
  } else {
    ensemble_.start_random();
  }
  ensemble_.evaluate();
  started_ = true;
}

// Samplers that move many coordinates at once may never leave a state of negligible probability:
// the two spins of a strongly coupled pair that differ are flipped together for ever.
void Run::settle() {
  if (!target_.local_moves() || on_device() || target_.stochastic()) return;
  if (target_.domain().unbounded()) return;
  const Gibbs gibbs(target_, {.updates = 0});
  if (!lacking(gibbs, target_).empty()) return;
  const int dim = target_.domain().dim();
  const RowBuffer<Symbol> states(plan_.chains, dim);
  const auto copy_states = [&] {
    for (int c = 0; c < plan_.chains; ++c) {
      std::copy_n(ensemble_.state(c), dim, states.view()[c]);
    }
  };
  copy_states();
  ensemble_.start_from(states.view(), kSettlingStep);
  NoObserver nobody;
  ensemble_.advance(gibbs, kSettlingSweeps, nobody);
  copy_states();
  ensemble_.start_from(states.view());
  ensemble_.reset_evaluations();
}

void Run::start(Rows<const Symbol> states) {
  ensemble_.start_from(states);
  ensemble_.evaluate();
  started_ = true;
}

void Run::warmup_round() {
  const std::uint64_t left = plan_.warmup - ensemble_.step();
  if (!tuner_) {
    Observer observer(*this, false);
    ensemble_.advance(*current_, round_length(left, 1), observer);
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
  forget_evaluations();
}

void Run::end_warmup() {
  if (!warming_up()) return;
  plan_.warmup = ensemble_.step();
  if (tuner_) current_ = tuner_->sampler(Tunable::Phase::draws);
  begin_draws();
}

void Run::draw_round(std::uint64_t steps) {
  Observer observer(*this, true);
  ensemble_.advance(*current_, steps, observer);
}

void Run::save(ByteWriter& out) const {
  ensemble_.save(out);
  if (tuner_) tuner_->save(out);
  save_totals(out);
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
  restore_totals(in);
}

}  // namespace saltus
