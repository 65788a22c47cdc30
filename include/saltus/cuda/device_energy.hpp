// Log p and its score of rows of states in the memory of a GPU: what to implement for chains of a
// model of one's own to stay there. docs/gpu.md shows how.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>

#include "saltus/cuda/work_stream.hpp"

namespace saltus::cuda {

// Where an evaluation happens; see At. The step is *step + offset. The two pointers are to device
// memory, so that a graph that is launched again finds new numbers there.
struct DeviceAt {
  const std::uint64_t *seed = nullptr, *step = nullptr;
  std::uint64_t offset = 0;
};

class DeviceEnergy {
 public:
  virtual ~DeviceEnergy() = default;

  // The stream on which all evaluations will be enqueued.
  virtual std::unique_ptr<WorkStream> make_stream() const { return make_work_stream(); }

  // True when log p is estimated from a mini-batch, a function of seed and step. Then `evaluate_at`
  // is the one to call.
  virtual bool stochastic() const { return false; }

  // Makes room for `rows` rows. Called before `evaluate`, never while a graph is captured;
  // pointers that earlier graphs hold may go stale when `rows` grows.
  virtual void prepare(int rows) = 0;

  // For every row of `values` (the coordinates' values, 0 and 1 or -1 and +1; dim of them, rows
  // contiguous): logp and score. A null output is not wanted. All pointers are to device memory.
  // Only enqueues work on the stream, so that it can be captured into a graph; rows do not depend
  // on one another.
  virtual void evaluate(cudaStream_t stream, const float* values, int rows, double* logp,
                        float* score) = 0;
  virtual void evaluate_at(cudaStream_t stream, const DeviceAt&, const float* values, int rows,
                           double* logp, float* score) {
    evaluate(stream, values, rows, logp, score);
  }
};

}  // namespace saltus::cuda
