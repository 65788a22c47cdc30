// The stream on which an energy's work is enqueued, and graphs of launches that are captured from
// it and replayed without the host.
//
// Energies that are computed by another library, whose memory must take part in a capture, bring a
// WorkStream of their own (DeviceEnergy::make_stream).
#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <memory>

namespace saltus::cuda {

class Graph {
 public:
  virtual ~Graph() = default;
  virtual void replay() = 0;
};

class WorkStream {
 public:
  virtual ~WorkStream() = default;
  virtual cudaStream_t get() const = 0;
  // Calls `work`, which enqueues on this stream.
  virtual void run(const std::function<void()>& work) const { work(); }
  // `work` enqueues on this stream, and does nothing else.
  virtual std::unique_ptr<Graph> capture(const std::function<void()>& work) const = 0;
  void wait() const;  // until all is done
};

// A stream of its own, which does not wait for the default one.
std::unique_ptr<WorkStream> make_work_stream();

}  // namespace saltus::cuda
