// An energy with the one stream on which all its evaluations are enqueued, whoever asks for them:
// they never run side by side and can share the energy's memory.
#pragma once

#include <memory>
#include <mutex>

#include "saltus/cuda/device_energy.hpp"

namespace saltus::cuda {

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

}  // namespace saltus::cuda
