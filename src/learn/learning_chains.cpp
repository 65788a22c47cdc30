#include "saltus/learn/learning_chains.hpp"

#include <algorithm>

namespace saltus {
namespace {

// Adds up, for each chain, what its steps did; acceptance is a sum, too.
class StepTotals final : public StepObserver {
 public:
  StepTotals(std::span<StepInfo> totals, AcceptanceSums* tuning)
      : totals_(totals), tuning_(tuning) {
    std::ranges::fill(totals, StepInfo{0, 0, 0, true, false});
  }
  bool wants_logp(std::uint64_t) const override { return false; }
  bool wants_states(std::uint64_t) const override { return false; }
  void after_step(const Tile& tile, std::span<const StepInfo> info, std::uint64_t) override {
    for (std::size_t r = 0; r < info.size(); ++r) {
      StepInfo& t = totals_[tile.first_slot + r];
      t.acceptance += info[r].acceptance;
      t.proposed += info[r].proposed;
      t.changed += info[r].changed;
      if (tuning_ && info[r].proposed > 0) tuning_->add(tile.first_slot + r, info[r]);
    }
  }

 private:
  std::span<StepInfo> totals_;
  AcceptanceSums* tuning_;
};

}  // namespace

LearningChains::LearningChains(const Target& target, const Plan& plan)
    : target_(target),
      states_(plan.chains, target.domain().dim()),
      totals_(static_cast<std::size_t>(plan.chains)) {
  member_.range = {0, plan.chains};
  if (plan.team) {
    const int members =
        plan.most_members > 0 ? std::min(plan.most_members, plan.team->size()) : plan.team->size();
    const std::vector<ChainRange> ranges = chain_ranges(target, plan.chains, plan.tile, members);
    member_ = join_team(*plan.team, ranges);
    if (!member_.team) return;
    for (const ChainRange& range : ranges) counts_.push_back(range.chains);
  }
  ensemble_ = std::make_unique<Ensemble>(
      std::vector<ChainGroup>{{&target, member_.range.chains}},
      EnsemblePlan{plan.seed, plan.threads, plan.tile, member_.range.first_chain});
}

Rows<Symbol> LearningChains::own_states() const {
  const Rows<Symbol> all = states_.view();
  return {all[static_cast<int>(member_.range.first_chain)], member_.range.chains, all.cols,
          all.stride};
}

void LearningChains::take_states() {
  const Rows<Symbol> own = own_states(), all = states_.view();
  for (int r = 0; r < own.rows; ++r) std::copy_n(ensemble_->state(r), own.cols, own[r]);
  if (!team()) return;
  const std::size_t size =
      static_cast<std::size_t>(all.rows) * static_cast<std::size_t>(all.stride);
  team()->exchange(std::as_writable_bytes(std::span(all.data, size)), counts_);
}

void LearningChains::start_random() {
  ensemble_->start_random();
  take_states();
}

void LearningChains::advance(const Sampler& sampler, const Steps& steps, AcceptanceSums* tuning) {
  ensemble_->start_from(own_states(), steps.first_step);
  const Sampler::Needs needs = sampler.needs(target_);
  if (needs.logp || needs.score || needs.target_cache) ensemble_->evaluate();
  const std::span own = std::span(totals_).subspan(member_.range.first_chain,
                                                   static_cast<std::size_t>(member_.range.chains));
  StepTotals observer(own, tuning);
  ensemble_->advance(sampler, steps.count, observer);
  take_states();
  if (team()) team()->exchange(std::as_writable_bytes(std::span(totals_)), counts_);
}

}  // namespace saltus
