#include "torch/cuda_stream.hpp"

#include <ATen/cuda/CUDAGraph.h>
#include <ATen/ops/empty.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

namespace saltus {
namespace {

using c10::cuda::CUDAStream;
using c10::cuda::CUDAStreamGuard;

// libtorch makes its allocator and generators ready with the first tensor; a graph needs both.
CUDAStream new_stream() {
  at::empty({1}, at::TensorOptions().device(at::kCUDA));
  return c10::cuda::getStreamFromPool();
}

class TorchGraph final : public cuda::Graph {
 public:
  TorchGraph(const CUDAStream& stream, const std::function<void()>& work) : stream_(stream) {
    const CUDAStreamGuard guard(stream_);
    graph_.capture_begin();
    try {
      work();
    } catch (...) {
      try {
        graph_.capture_end();  // so that the stream can be used again
      } catch (...) {
      }
      throw;
    }
    graph_.capture_end();
  }

  void replay() override {
    const CUDAStreamGuard guard(stream_);
    graph_.replay();
  }

 private:
  CUDAStream stream_;
  at::cuda::CUDAGraph graph_;
};

// From libtorch's pool, whose streams are not the default one.
class TorchStream final : public cuda::WorkStream {
 public:
  cudaStream_t get() const override { return stream_.stream(); }
  void run(const std::function<void()>& work) const override {
    const CUDAStreamGuard guard(stream_);
    work();
  }
  std::unique_ptr<cuda::Graph> capture(const std::function<void()>& work) const override {
    return std::make_unique<TorchGraph>(stream_, work);
  }

 private:
  CUDAStream stream_ = new_stream();
};

}  // namespace

std::unique_ptr<cuda::WorkStream> make_torch_stream() {
  return std::make_unique<TorchStream>();
}

}  // namespace saltus
