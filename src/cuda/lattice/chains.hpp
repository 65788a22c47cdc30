// Chains of an Ising lattice on a GPU: all steps of a block by one kernel, where a sampler has one,
// and by the general chains of CudaChains otherwise.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "cuda/lattice/kernels.hpp"
#include "saltus/cuda/memory.hpp"
#include "saltus/cuda/work_stream.hpp"
#include "saltus/run/device_chains.hpp"
#include "saltus/run/ensemble.hpp"
#include "saltus/target/ising_lattice.hpp"

namespace saltus::cuda {

// A block of steps: what it is to record, and what it recorded, on the GPU and here.
class LatticeRecords {
 public:
  LatticeRecords(const LatticeShape& shape, int chains);
  ~LatticeRecords();
  LatticeRecords(const LatticeRecords&) = delete;
  LatticeRecords& operator=(const LatticeRecords&) = delete;

  // Makes ready for steps from the observer's step `first` on. Returns how many: at least one, at
  // most `steps`, as memory allows.
  std::uint64_t plan(cudaStream_t stream, const StepObserver& observer, std::uint64_t first,
                     std::uint64_t steps);
  void enter(LatticeSteps& steps) const;

  // After the steps are enqueued on `work`: copies on `copies`, which waits for them.
  void fetch(cudaStream_t work, cudaStream_t copies);

  // What the log p of a state follows from, and who made the steps.
  struct Law {
    const LatticeModel* model;
    Tempering tempering;
    double log_base;  // of all states
    LatticeSampler sampler;
  };
  // Waits for the copies. `tile` says the first chain and the number of the first step.
  void tell(Tile tile, const Law& law, StepObserver& observer);

 private:
  // Steps that share a record. Of some only sums are wanted.
  struct Part {
    std::int32_t end, place;
    bool sums;
  };
  void tell_sums(std::span<const LatticeRecord> records, const Law& law, std::int32_t steps,
                 StepObserver& observer);
  void unpack(std::int32_t place);

  LatticeShape shape_;
  int chains_;
  std::uint64_t first_ = 0;
  std::vector<Part> parts_;
  std::vector<std::int32_t> ends_, places_;
  std::size_t states_ = 0;
  DeviceArray<std::int32_t> device_ends_, device_places_;
  DeviceArray<LatticeRecord> device_records_;
  DeviceArray<std::uint32_t> device_kept_;
  PinnedArray<LatticeRecord> records_;
  PinnedArray<std::uint32_t> kept_;
  RowBuffer<Symbol> x_;  // a state of each chain
  std::vector<StepInfo> info_;
  std::vector<StepSums> sums_;
  std::vector<double> logp_;
  cudaEvent_t made_ = nullptr, copied_ = nullptr;
};

class LatticeChains final : public DeviceChains {
 public:
  using MakeGeneral = std::function<std::unique_ptr<DeviceChains>()>;

  // `general` makes chains for what has no kernel here; they are made when first wanted.
  LatticeChains(const LatticeModel& model, int chains, std::uint64_t seed, MakeGeneral general);
  ~LatticeChains() override;

  bool serves(const Sampler& sampler, const Independent* base) const override;
  void count_chains_from(std::uint32_t first_chain) override;
  void put_states(Rows<const Symbol> states) override;
  void get_states(Rows<Symbol> states) const override;
  void evaluate(std::uint64_t step, std::span<double> logp) override;
  void advance(const Sampler& sampler, const Law& law, std::uint64_t step, std::uint64_t steps,
               StepObserver& observer) override;
  void anneal(const Sampler& sampler, std::uint64_t step, const Path& path,
              const Annealed& out) override;
  Evaluations evaluations() const override;
  void reset_evaluations() override;

 private:
  // A sampler with a kernel here, for a base that knows no differences between states: the law of
  // a site has then as few classes as the model's.
  struct Native {
    LatticeSampler sampler;
    float penalty = 0;
  };
  std::optional<Native> native(const Sampler& sampler, const Independent* base) const;
  double log_of(const Independent* base) const;  // of any state; 0 without a base

  DeviceChains& general(std::uint64_t step);  // where the states are then
  void settle_here();                         // states come back from there
  const LatticeLaw& law_at(const Native& native, double beta);
  // Records log p at `recorded`.
  void run(const Native& native, double beta, const LatticeRecords::Law& recorded,
           std::uint64_t step, std::uint64_t steps, StepObserver& observer);

  IsingLattice target_;
  LatticeShape shape_;
  int chains_;
  std::uint64_t seed_;
  std::uint32_t first_chain_ = 0;
  MakeGeneral make_general_;
  std::unique_ptr<DeviceChains> general_;
  bool states_there_ = false;
  Evaluations evaluations_;
  std::optional<LatticeParameters> law_of_;  // that the law was made for
  LatticeLaw law_{};

  std::unique_ptr<WorkStream> stream_;
  cudaStream_t copies_ = nullptr;
  DeviceArray<std::uint32_t> states_;
  std::array<LatticeRecords, 2> records_;
};

// The lattice on the GPU.
std::unique_ptr<Target> lattice_on_cuda(const IsingLattice& target);

}  // namespace saltus::cuda
