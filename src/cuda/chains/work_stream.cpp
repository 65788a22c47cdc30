#include "saltus/cuda/work_stream.hpp"

#include "saltus/cuda/check.hpp"

namespace saltus::cuda {
namespace {

class PlainGraph final : public Graph {
 public:
  PlainGraph(cudaStream_t stream, cudaGraph_t graph) : stream_(stream) {
    const cudaError_t status = cudaGraphInstantiate(&executable_, graph, 0);
    cudaGraphDestroy(graph);
    check(status, "cudaGraphInstantiate");
  }
  ~PlainGraph() override { cudaGraphExecDestroy(executable_); }

  void replay() override { check(cudaGraphLaunch(executable_, stream_), "cudaGraphLaunch"); }

 private:
  cudaStream_t stream_;
  cudaGraphExec_t executable_ = nullptr;
};

class PlainStream final : public WorkStream {
 public:
  PlainStream() {
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate");
  }
  ~PlainStream() override { cudaStreamDestroy(stream_); }
  cudaStream_t get() const override { return stream_; }

  // Other threads may go on taking memory while this one captures.
  std::unique_ptr<Graph> capture(const std::function<void()>& work) const override {
    check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal),
          "cudaStreamBeginCapture");
    cudaGraph_t graph = nullptr;
    try {
      work();
    } catch (...) {
      cudaStreamEndCapture(stream_, &graph);  // so that the stream can be used again
      if (graph) cudaGraphDestroy(graph);
      throw;
    }
    check(cudaStreamEndCapture(stream_, &graph), "cudaStreamEndCapture");
    return std::make_unique<PlainGraph>(stream_, graph);
  }

 private:
  cudaStream_t stream_ = nullptr;
};

}  // namespace

void WorkStream::wait() const {
  check(cudaStreamSynchronize(get()), "cudaStreamSynchronize");
}

std::unique_ptr<WorkStream> make_work_stream() {
  return std::make_unique<PlainStream>();
}

}  // namespace saltus::cuda
