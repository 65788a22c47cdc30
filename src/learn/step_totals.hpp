// What the steps of an iteration of learning did.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "saltus/run/ensemble.hpp"

namespace saltus {

// Adds up, for each chain, what its steps did; acceptance is a sum, too.
class StepTotals final : public StepObserver {
 public:
  explicit StepTotals(std::vector<StepInfo>& totals) : totals_(totals) {
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
    }
  }

 private:
  std::vector<StepInfo>& totals_;
};

}  // namespace saltus
