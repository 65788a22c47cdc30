#include "torch/cuda_energies.hpp"

#include <ATen/cuda/CUDAGraph.h>
#include <ATen/ops/empty.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/grad_mode.h>

#include "cuda/resnet/energy.hpp"
#include "saltus/core/error.hpp"
#include "saltus/cuda/cuda_target.hpp"
#include "torch/libtorch.hpp"

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

template <class T>
at::Tensor view_of(T* data, at::IntArrayRef sizes, at::ScalarType type) {
  const at::Device device(at::kCUDA, c10::cuda::current_device());
  return at::for_blob(data, sizes)
      .target_device(device)
      .options(at::TensorOptions(type).device(device))
      .make_tensor();
}

// log p by any function of tensors, differentiated by libtorch: (rows, dim) to (rows).
class TorchEnergy final : public cuda::DeviceEnergy {
 public:
  TorchEnergy(int dim, std::function<at::Tensor(const at::Tensor&)> log_p)
      : dim_(dim), log_p_(std::move(log_p)) {}

  std::unique_ptr<cuda::WorkStream> make_stream() const override { return make_torch_stream(); }

  // Libraries choose their algorithms and take their memory on a first call, which must not be
  // captured.
  void prepare(int rows) override {
    const CUDAStream stream = c10::cuda::getStreamFromPool();
    const CUDAStreamGuard on(stream);
    const auto options = at::TensorOptions(at::kFloat).device(at::kCUDA);
    const at::Tensor values = at::zeros({rows, dim_}, options),
                     score = at::empty({rows, dim_}, options),
                     logp = at::empty({rows}, options.dtype(at::kDouble));
    evaluate(stream.stream(), values.data_ptr<float>(), rows, logp.data_ptr<double>(),
             score.data_ptr<float>());
    stream.synchronize();
  }

  // Tensors in between come from torch's allocator, which knows of the capture that is under way.
  void evaluate(cudaStream_t stream, const float* values, int rows, double* logp,
                float* score) override {
    or_failure("the network", [&] { compute(stream, values, rows, logp, score); });
  }

 private:
  void compute(cudaStream_t stream, const float* values, int rows, double* logp, float* score) {
    c10::cuda::OptionalCUDAStreamGuard on;
    if (c10::cuda::getCurrentCUDAStream().stream() != stream) {
      on.reset_stream(c10::cuda::getStreamFromExternal(stream, c10::cuda::current_device()));
    }
    at::Tensor x = view_of(const_cast<float*>(values), {rows, dim_}, at::kFloat);
    at::Tensor out;
    if (score) {
      const at::AutoGradMode gradients(true);
      x = x.detach().requires_grad_(true);
      out = log_p_(x);
      const at::Tensor gradient = torch::autograd::grad({out.sum()}, {x})[0];
      view_of(score, {rows, dim_}, at::kFloat).copy_(gradient);
    } else {
      const c10::InferenceMode no_gradients;
      out = log_p_(x);
    }
    const at::NoGradGuard no_gradients;
    if (logp) view_of(logp, {rows}, at::kDouble).copy_(out.detach());
  }

  int dim_;
  std::function<at::Tensor(const at::Tensor&)> log_p_;
};

// The fused kernel, kept in step with the parameters.
std::shared_ptr<cuda::DeviceEnergy> make_fused_resnet(const ResnetTensors& tensors) {
  ResnetEnergy energy{tensors.shape, to_host(tensors.flat), tensors.base_mean};
  auto fused = std::make_shared<cuda::FusedResnet>(energy);
  const float* parameters = tensors.flat.data_ptr<float>();
  tensors.listeners.push_back([fused, parameters] { fused->load(parameters); });
  return fused;
}

// The one place where the energy of a residual network on a GPU is chosen, by shape and precision.
std::shared_ptr<cuda::DeviceEnergy> make_resnet_energy(std::shared_ptr<const ResnetTensors> tensors,
                                                       const DeviceChoice& choice) {
  if (choice.precision.value_or(Precision::half) == Precision::half &&
      cuda::FusedResnet::serves(tensors->shape)) {
    return make_fused_resnet(*tensors);
  }
  if (choice.precision == Precision::half) {
    throw UsageError(
        "half precision is for networks of 64 channels and 8 blocks on 28 x 28 pixels, on a GPU of "
        "compute capability 9 and by a saltus built for 90a; others take tf32 or single");
  }
  const at::Tensor logit =
      at::tensor(tensors->base_logit, at::kFloat).to(tensors->flat.device(), at::kDouble);
  return std::make_shared<TorchEnergy>(tensors->shape.pixels(), [=](const at::Tensor& x) {
    const at::Tensor base = (x.to(at::kDouble) * logit).sum(1) + tensors->base_constant;
    return resnet_forward(tensors->shape, tensors->views, x).to(at::kDouble) + base;
  });
}

}  // namespace

std::unique_ptr<cuda::WorkStream> make_torch_stream() {
  return std::make_unique<TorchStream>();
}

std::unique_ptr<Target> make_cuda_resnet(std::shared_ptr<const ResnetTensors> tensors,
                                         const DeviceChoice& choice) {
  const ResnetShape shape = tensors->shape;
  return std::make_unique<cuda::CudaTarget>("resnet-ebm", Domain::binary(shape.pixels()),
                                            std::vector<int>{shape.height, shape.width},
                                            make_resnet_energy(std::move(tensors), choice));
}

std::unique_ptr<Target> make_cuda_script(const Domain& domain,
                                         std::function<at::Tensor(const at::Tensor&)> log_p) {
  return std::make_unique<cuda::CudaTarget>(
      "torch", domain, std::vector<int>{domain.dim()},
      std::make_shared<TorchEnergy>(domain.dim(), std::move(log_p)));
}

}  // namespace saltus
