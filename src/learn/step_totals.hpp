// What the steps of an iteration of learning did.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "saltus/run/adapt.hpp"
#include "saltus/run/ensemble.hpp"

namespace saltus {

// Adds up, for each chain, what its steps did; acceptance is a sum, too.
class StepTotals final : public StepObserver {
 public:
  // `tuning`: also gets the steps, where something is tuned.
  explicit StepTotals(std::vector<StepInfo>& totals, AcceptanceSums* tuning = nullptr)
      : totals_(totals), tuning_(tuning) {
    std::fill(totals.begin(), totals.end(), StepInfo{0, 0, 0, true, false});
  }
  bool wants_logp(std::uint64_t) const override { return false; }
  bool wants_states(std::uint64_t) const override { return false; }
  void after_step(const Tile& tile, std::span<const StepInfo> info, std::uint64_t) override {
    for (std::size_t r = 0; r < info.size(); ++r) {
      StepInfo& t = totals_[tile.first_slot + r];
      t.acceptance += info[r].acceptance;
      t.proposed += info[r].proposed;
      t.changed += info[r].changed;
      if (tuning_) tuning_->add(tile.first_slot + r, info[r]);
    }
  }

 private:
  std::vector<StepInfo>& totals_;
  AcceptanceSums* tuning_;
};

// The means of the totals over chains and steps.
template <class Info>
void set_means(const std::vector<StepInfo>& totals, std::uint64_t steps, Info& info) {
  const double count = static_cast<double>(steps) * static_cast<double>(totals.size());
  for (const StepInfo& t : totals) {
    info.acceptance += t.acceptance;
    info.proposed += t.proposed;
    info.changed += t.changed;
  }
  info.acceptance /= count, info.proposed /= count, info.changed /= count;
}

inline void copy_states(const Ensemble& ensemble, Rows<Symbol> to) {
  for (int r = 0; r < to.rows; ++r) std::copy_n(ensemble.state(r), to.cols, to[r]);
}

}  // namespace saltus
