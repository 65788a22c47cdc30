// Chains of two-level coordinates that live on an NVIDIA GPU.
#pragma once

#include <array>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <vector>

#include "cuda/chains/records.hpp"
#include "cuda/chains/served.hpp"
#include "cuda/chains/step_kernels.hpp"
#include "saltus/cuda/device_energy.hpp"
#include "saltus/cuda/memory.hpp"
#include "saltus/run/device_chains.hpp"

namespace saltus::cuda {

// Throws UsageError unless all coordinates have two levels.
TwoLevels two_levels(const Domain& domain);

// An energy with the one stream on which all its evaluations are enqueued, whoever asks for them:
// they never run side by side and can share the energy's memory.
class SharedEnergy {
 public:
  explicit SharedEnergy(std::shared_ptr<DeviceEnergy> energy)
      : energy_(std::move(energy)), stream_(energy_->make_stream()) {}

  const WorkStream& stream() const { return *stream_; }
  bool stochastic() const { return energy_->stochastic(); }
  // To be held while an evaluation, or a graph that contains some, is enqueued or captured.
  std::unique_lock<std::recursive_mutex> lock() { return std::unique_lock(mutex_); }

  // Makes room. Graphs of an earlier generation are no longer valid.
  void prepare(int rows) {
    const auto held = lock();
    if (rows <= rows_) return;
    stream_->wait();
    energy_->prepare(rows);
    rows_ = rows;
    ++generation_;
  }
  int generation() const { return generation_; }

  void evaluate(const DeviceAt& at, const float* values, int rows, double* logp, float* score) {
    const auto held = lock();
    stream_->run([&] { energy_->evaluate_at(stream_->get(), at, values, rows, logp, score); });
  }

 private:
  std::shared_ptr<DeviceEnergy> energy_;
  std::unique_ptr<WorkStream> stream_;
  std::recursive_mutex mutex_;
  int rows_ = 0, generation_ = 0;
};

class CudaChains final : public DeviceChains {
 public:
  CudaChains(std::shared_ptr<SharedEnergy> energy, const Domain& domain, int chains,
             std::uint64_t seed);
  ~CudaChains() override;

  bool serves(const Sampler& sampler, const Independent*) const override {
    return serve(sampler).kernel;
  }
  void count_chains_from(std::uint32_t first_chain) override { first_chain_ = first_chain; }
  void put_states(Rows<const Symbol> states) override;
  void get_states(Rows<Symbol> states) const override;
  void evaluate(std::uint64_t step, std::span<double> logp) override;
  void advance(const Sampler& sampler, const Law& law, std::uint64_t step, std::uint64_t steps,
               StepObserver& observer) override;
  void anneal(const Sampler& sampler, std::uint64_t step, const Path& path,
              const Annealed& out) override;
  Evaluations evaluations() const override { return evaluations_; }
  void reset_evaluations() override { evaluations_ = {}; }

  int captures() const { return captures_; }  // graphs made so far

 private:
  // Steps of a graph; there are graphs of one step, too.
  static constexpr int kGraphSteps = 8;
  // A beta that does not move: for more steps than a block has.
  static constexpr int kForever = std::numeric_limits<int>::max();

  cudaStream_t stream() const { return energy_->stream().get(); }
  Served served(const Sampler& sampler) const;
  Control enter(const Independent& base, std::span<const double> betas, int steps_per_beta);
  Control control_for(const Served& served, Control control, std::uint64_t step,
                      std::uint64_t steps);
  void make_ready(const Kernel& kernel, std::uint64_t step);
  void evaluate_states(std::uint64_t step);
  void enqueue(const Kernel& kernel, bool logp, const Control& control, std::uint64_t steps);
  Graph& graph(const Kernel& kernel, bool logp, int length);
  void evaluate_step(const Kernel& kernel, bool logp, bool warm_up, int offset);
  void enqueue_step(const Kernel& kernel, bool logp, int offset);
  void count(const Kernel& kernel, bool logp, std::uint64_t steps);

  std::shared_ptr<SharedEnergy> energy_;
  Domain domain_;
  std::uint64_t seed_;
  std::uint32_t first_chain_ = 0;
  bool logp_current_ = false, score_current_ = false;
  Evaluations evaluations_;

  DeviceArray<float> x_, score_, y_, y_score_;
  DeviceArray<double> logp_, y_logp_, base_, y_base_, log_q_;
  DeviceArray<std::uint32_t> changes_;
  DeviceArray<std::int32_t> site_;
  DeviceArray<std::uint8_t> nonfinite_;
  DeviceArray<Symbol> levels_;  // states on their way
  DeviceArray<Control> control_;
  DeviceArray<std::uint64_t> at_;  // seed and step of an evaluation that is no step's
  DeviceArray<float> penalty_;
  DeviceArray<std::int32_t> sites_;
  DeviceArray<double> betas_, base_slope_, log_weights_, acceptance_;
  Launch launch_;

  std::array<Records, 2> records_;
  cudaStream_t copies_ = nullptr;
  std::map<std::tuple<const Kernel*, bool, int>, std::unique_ptr<Graph>> graphs_;
  int generation_ = 0, captures_ = 0;
};

}  // namespace saltus::cuda
