#include "cuda/graph.hpp"

#include <ATen/cuda/CUDAGraph.h>
#include <ATen/ops/empty.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include "cuda/check.hpp"

namespace saltus::cuda {

namespace {

// Torch makes its allocator and generators ready with the first tensor; a graph needs both.
c10::cuda::CUDAStream new_stream() {
  at::empty({1}, at::TensorOptions().device(at::kCUDA));
  return c10::cuda::getStreamFromPool();
}

}  // namespace

struct WorkStream::Of {
  c10::cuda::CUDAStream stream = new_stream();
};

WorkStream::WorkStream() : of_(std::make_unique<Of>()) {}
WorkStream::~WorkStream() = default;

cudaStream_t WorkStream::get() const {
  return of_->stream.stream();
}

void WorkStream::run(const std::function<void()>& work) const {
  const c10::cuda::CUDAStreamGuard guard(of_->stream);
  work();
}

void WorkStream::wait() const {
  check(cudaStreamSynchronize(get()), "cudaStreamSynchronize");
}

struct Graph::Of {
  c10::cuda::CUDAStream stream;
  at::cuda::CUDAGraph graph;
  explicit Of(const c10::cuda::CUDAStream& s) : stream(s) {}
};

Graph::Graph(const WorkStream& stream, const std::function<void()>& work)
    : of_(std::make_unique<Of>(stream.of_->stream)) {
  const c10::cuda::CUDAStreamGuard guard(of_->stream);
  of_->graph.capture_begin();
  try {
    work();
  } catch (...) {
    try {
      of_->graph.capture_end();  // so that the stream can be used again
    } catch (...) {
    }
    throw;
  }
  of_->graph.capture_end();
}

Graph::~Graph() = default;

void Graph::replay() {
  const c10::cuda::CUDAStreamGuard guard(of_->stream);
  of_->graph.replay();
}

}  // namespace saltus::cuda
