// The chains that an iteration of learning moves. In a team each member moves a range of them, and
// all members have the states of all chains, so that they can learn alike.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "saltus/run/adapt.hpp"
#include "saltus/run/ensemble.hpp"
#include "saltus/run/team.hpp"

namespace saltus {

class LearningChains {
 public:
  // `tile`: as in EnsemblePlan. In a team at most `most_members` take part; those that have no
  // chains are idle, and have nothing else to do.
  struct Plan {
    int chains = 1, tile = 0, threads = 0;
    std::uint64_t seed = 1;
    Team* team = nullptr;
    int most_members = 0;  // 0: as many as there are tiles
  };
  LearningChains(const Target& target, const Plan& plan);

  bool idle() const { return !ensemble_; }
  Team* team() const { return member_.team.get(); }  // of those that are not idle
  int own_chains() const { return member_.range.chains; }
  Rows<Symbol> states() const { return states_.view(); }

  void start_random();
  // Steps from states() on, numbered from `first_step`; afterwards states() are where they lead.
  // Chains start afresh, for what a sampler keeps from step to step belongs to the parameters of
  // the last iteration. `tuning`, of this member's own chains, gets their proposals that change
  // something. Throws StartError when log p is evaluated and not finite.
  struct Steps {
    std::uint64_t first_step, count;
  };
  void advance(const Sampler& sampler, const Steps& steps, AcceptanceSums* tuning = nullptr);
  // What the steps of each chain did in `advance`; acceptance is a sum, too.
  std::span<const StepInfo> totals() const { return totals_; }

  // The means of the totals over chains and steps.
  template <class Info>
  void set_means(std::uint64_t steps, Info& info) const {
    const double count = static_cast<double>(steps) * static_cast<double>(totals_.size());
    for (const StepInfo& t : totals_) {
      info.acceptance += t.acceptance;
      info.proposed += t.proposed;
      info.changed += t.changed;
    }
    info.acceptance /= count, info.proposed /= count, info.changed /= count;
  }

 private:
  Rows<Symbol> own_states() const;
  void take_states();

  const Target& target_;
  Membership member_;
  std::vector<int> counts_;  // chains of each member
  std::unique_ptr<Ensemble> ensemble_;
  RowBuffer<Symbol> states_;
  std::vector<StepInfo> totals_;
};

}  // namespace saltus
