// What a block of steps leaves for the observer: written by the GPU, fetched in one go while the
// next block runs, and told step by step.
#pragma once

#include <vector>

#include "cuda/chains/chain_steps.hpp"
#include "saltus/cuda/memory.hpp"
#include "saltus/run/ensemble.hpp"

namespace saltus::cuda {

class Records {
 public:
  Records(int chains, int dim);
  ~Records();
  Records(const Records&) = delete;
  Records& operator=(const Records&) = delete;

  // Makes ready for steps from the observer's step `first` on. Returns how many: at least one, at
  // most `steps`, as memory allows.
  std::uint64_t plan(cudaStream_t stream, const StepObserver& observer, std::uint64_t first,
                     std::uint64_t steps);
  bool wants_logp() const { return wants_logp_; }  // after one of these steps
  void enter(Control& control) const;

  // After the steps are enqueued on `work`: copies on `copies`, which waits for them.
  void fetch(cudaStream_t work, cudaStream_t copies);
  // Waits for the copies. `tile` says the first chain and the number of the first step.
  void tell(Tile tile, StepObserver& observer) const;

 private:
  // On the GPU, and here.
  template <class T>
  struct Both {
    DeviceArray<T> there;
    PinnedArray<T> here;
    void grow(std::size_t size) { there.grow(size), here.grow(size); }
    void fetch(cudaStream_t stream, std::size_t size) { there.get(stream, {here.data(), size}); }
  };

  int chains_, dim_, stride_;
  std::uint64_t first_ = 0;
  std::size_t steps_ = 0, states_ = 0;  // how many are planned; how many of them with states
  bool wants_logp_ = false;
  std::vector<std::int32_t> places_;  // of the steps' states, -1: not wanted
  DeviceArray<std::int32_t> device_places_;
  Both<StepInfo> info_;
  Both<double> logp_;
  Both<Symbol> rows_;  // of states
  cudaEvent_t made_ = nullptr, copied_ = nullptr;
};

}  // namespace saltus::cuda
