#include "cuda/chains/records.hpp"

#include <algorithm>
#include <bit>

namespace saltus::cuda {
namespace {

// Two blocks are under way, each with memory on the GPU and on the host: 64 MiB in all.
constexpr std::size_t kStateBytes = std::size_t{12} << 20, kInfoBytes = std::size_t{4} << 20;
constexpr std::size_t kMostSteps = 1024;

std::size_t fit(std::size_t bytes, std::size_t each) {
  return std::max<std::size_t>(1, bytes / each);
}

}  // namespace

Records::Records(int chains, int dim) : chains_(chains), dim_(dim), stride_(padded(dim)) {
  check(cudaEventCreateWithFlags(&made_, cudaEventDisableTiming), "cudaEventCreate");
  check(cudaEventCreateWithFlags(&copied_, cudaEventDisableTiming), "cudaEventCreate");
}

Records::~Records() {
  cudaEventDestroy(made_);
  cudaEventDestroy(copied_);
}

std::uint64_t Records::plan(cudaStream_t stream, const StepObserver& observer, std::uint64_t first,
                            std::uint64_t steps) {
  const auto chains = static_cast<std::size_t>(chains_);
  const std::size_t row = chains * static_cast<std::size_t>(stride_);
  const std::size_t most_steps =
      std::min({static_cast<std::size_t>(steps), kMostSteps,
                fit(kInfoBytes, chains * (sizeof(StepInfo) + sizeof(double)))});
  const std::size_t most_states = fit(kStateBytes, row * sizeof(Symbol));
  first_ = first;
  states_ = 0;
  wants_logp_ = false;
  places_.clear();
  for (std::size_t k = 0; k < most_steps; ++k) {
    const bool wanted = observer.wants_states(first + k);
    if (wanted && states_ == most_states) break;
    places_.push_back(wanted ? static_cast<std::int32_t>(states_++) : -1);
    wants_logp_ = wants_logp_ || observer.wants_logp(first + k);
  }
  steps_ = places_.size();
  const std::size_t room = std::min(std::bit_ceil(steps_), kMostSteps);
  device_places_.grow(room);
  info_.grow(room * chains), logp_.grow(room * chains);
  rows_.grow(std::min(std::bit_ceil(states_), most_states) * row);
  device_places_.put(stream, places_);
  return steps_;
}

void Records::enter(Control& control) const {
  control.info = info_.there.data();
  control.logp = logp_.there.data();
  control.states = rows_.there.data();
  control.stride = stride_;
  control.places = device_places_.data();
}

void Records::fetch(cudaStream_t work, cudaStream_t copies) {
  const std::size_t entries = steps_ * static_cast<std::size_t>(chains_);
  const std::size_t states = states_ * static_cast<std::size_t>(chains_ * stride_);
  check(cudaEventRecord(made_, work), "cudaEventRecord");
  check(cudaStreamWaitEvent(copies, made_, 0), "cudaStreamWaitEvent");
  info_.fetch(copies, entries);
  if (wants_logp_) logp_.fetch(copies, entries);
  if (states > 0) rows_.fetch(copies, states);
  check(cudaEventRecord(copied_, copies), "cudaEventRecord");
}

void Records::tell(Tile tile, StepObserver& observer) const {
  check(cudaEventSynchronize(copied_), "cudaEventSynchronize");
  const std::size_t row = static_cast<std::size_t>(chains_) * static_cast<std::size_t>(stride_);
  tile.logp_current = wants_logp_;
  tile.score_current = tile.target_cache_current = false;
  for (std::size_t k = 0; k < steps_; ++k) {
    Symbol* states =
        places_[k] < 0 ? nullptr : rows_.here.data() + static_cast<std::size_t>(places_[k]) * row;
    const std::size_t begin = k * static_cast<std::size_t>(chains_);
    tile.x = {states, chains_, dim_, stride_};
    tile.logp = wants_logp_ ? logp_.here.data() + begin : nullptr;
    ++tile.step;
    observer.after_step(tile, {info_.here.data() + begin, static_cast<std::size_t>(chains_)},
                        first_ + k);
  }
}

}  // namespace saltus::cuda
