// Chains of an ensemble on a device: handing states over, and steps there.
#include <algorithm>

#include "run/ensemble_parts.hpp"
#include "saltus/core/error.hpp"

namespace saltus {

void Ensemble::fetch_states(const Group& group) const {
  if (group.states_here) return;
  const RowBuffer<Symbol> states(group.law.chains, group.target().domain().dim());
  group.device->get_states(states.view());
  for (int c = 0; c < group.law.chains; ++c) {
    std::copy_n(states.view()[c], states.view().cols, row(group.first_slot + c));
  }
  group.states_here = true;
}

// The device keeps the model's own values: its chains may be at any beta.
bool Ensemble::on_device(const Group& group) const {
  return group.device && group.target().on_device();
}

bool Ensemble::device_serves(const Group& group, const Sampler& sampler) const {
  return on_device(group) && group.device->serves(sampler, group.law.base.get());
}

// Values computed here, if any, are then taken to be out of date.
void Ensemble::evaluate_on_device(Group& group) {
  const int chains = group.law.chains;
  if (!group.device_ready) {
    const RowBuffer<Symbol> states(chains, group.target().domain().dim());
    for (int c = 0; c < chains; ++c) {
      std::copy_n(row(group.first_slot + c), states.view().cols, states.view()[c]);
    }
    group.device->put_states(states.view());
  }
  std::vector<double> logp(index(chains));
  group.device->evaluate(step_, logp);
  const Tile& first = tiles_[group.first_tile]->tile;
  for (int c = 0; c < chains; ++c) check_finite(first, c, logp[index(c)]);
  group.device_ready = true;
  forget_values(group);
}

namespace {

// Passes steps on with the places of a group that is not the first.
class Shifted final : public StepObserver {
 public:
  Shifted(StepObserver& to, int by) : to_(to), by_(static_cast<std::uint32_t>(by)) {}
  bool wants_logp(std::uint64_t step) const override { return to_.wants_logp(step); }
  bool wants_states(std::uint64_t step) const override { return to_.wants_states(step); }
  void after_step(const Tile& tile, std::span<const StepInfo> info, std::uint64_t step) override {
    Tile moved = tile;
    moved.first_slot += by_;
    to_.after_step(moved, info, step);
  }
  bool takes_sums() const override { return to_.takes_sums(); }
  void after_steps(std::uint32_t first_slot, std::span<const StepSums> sums) override {
    to_.after_steps(first_slot + by_, sums);
  }

 private:
  StepObserver& to_;
  std::uint32_t by_;
};

}  // namespace

// After steps there, states are all that counts: what goes with them is computed from them.
void Ensemble::advance_on_device(Group& group, const Sampler& sampler, std::uint64_t steps,
                                 StepObserver& observer) {
  if (!group.device_ready) evaluate_on_device(group);
  group.states_here = false;
  group.cache_owner.clear();
  group.accumulates_rounding = false;
  Shifted shifted(observer, group.first_slot);
  group.device->advance(sampler, {group.law.base.get(), group.law.beta}, step_, steps, shifted);
}

// Before steps here, which leave the device behind.
void Ensemble::leave_device(Group& group) {
  fetch_states(group);
  group.device_ready = false;
}

}  // namespace saltus
