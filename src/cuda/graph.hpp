// Work that the GPU repeats without the host: launches captured once and replayed. Captured by
// torch, whose memory then takes part; the only part of the chains that knows torch.
#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <memory>

namespace saltus::cuda {

// A stream from torch's pool, which is not the default one.
class WorkStream {
 public:
  WorkStream();
  ~WorkStream();
  cudaStream_t get() const;
  // Calls `work`, with this stream the one that torch enqueues on.
  void run(const std::function<void()>& work) const;
  void wait() const;  // until all is done

 private:
  friend class Graph;
  struct Of;
  std::unique_ptr<Of> of_;
};

class Graph {
 public:
  // `work` enqueues on the stream, and does nothing else.
  Graph(const WorkStream& stream, const std::function<void()>& work);
  ~Graph();
  void replay();

 private:
  struct Of;
  std::unique_ptr<Of> of_;
};

}  // namespace saltus::cuda
