#include "torch/cuda_resnet_update.hpp"

#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/grad_mode.h>

#include <cmath>

#include "cuda/graph.hpp"
#include "torch/resnet_network.hpp"

namespace saltus {
namespace {

at::TensorOptions on_gpu(at::ScalarType type) {
  return at::TensorOptions(type).device(at::kCUDA);
}

void copy_rows(Rows<const Symbol> rows, std::uint8_t* to) {
  for (int r = 0; r < rows.rows; ++r) {
    for (int i = 0; i < rows.cols; ++i) *to++ = static_cast<std::uint8_t>(rows[r][i]);
  }
}

}  // namespace

// Everything that the graph reads and writes stays where it is.
struct CudaResnetUpdate::Captured {
  int data, samples;
  cuda::WorkStream stream;
  at::Tensor pixels_here, pixels;  // bytes: pinned, and on the GPU
  at::Tensor weights;              // of the rows in the loss
  at::Tensor rates_here, rates;    // the corrected rate, and 1 / sqrt(1 - beta2^t)
  at::Tensor f;
  std::unique_ptr<cuda::Graph> graph;

  Captured(int data_rows, int sample_rows, int dim) : data(data_rows), samples(sample_rows) {
    const std::int64_t rows = data + samples;
    const auto pinned = at::TensorOptions().pinned_memory(true);
    pixels_here = at::empty({rows, dim}, pinned.dtype(at::kByte));
    pixels = at::zeros({rows, dim}, on_gpu(at::kByte));
    weights = at::full({rows}, 1.0 / samples, on_gpu(at::kFloat));
    weights.narrow(0, 0, data).fill_(-1.0 / data);
    rates_here = at::empty({2}, pinned.dtype(at::kFloat));
    rates = at::zeros({2}, on_gpu(at::kFloat));
    f = at::zeros({rows}, on_gpu(at::kFloat));
    // All this was on another stream than the graph's; a copy to the host waits for it.
    f.narrow(0, 0, 1).to(at::kCPU);
  }

  at::Tensor gradient(const ResnetTensors& network, double penalty) {
    const at::AutoGradMode gradients(true);
    std::vector<at::Tensor> leaves;
    for (const at::Tensor& view : network.views) {
      leaves.push_back(view.detach().requires_grad_(true));
    }
    const at::Tensor out = resnet_forward(network.shape, leaves, pixels.to(at::kFloat));
    f.copy_(out.detach());
    std::vector<at::Tensor> flat;
    const at::Tensor loss = (out * weights + penalty * weights.abs() * out.square()).sum();
    for (const at::Tensor& g : torch::autograd::grad({loss}, leaves)) {
      flat.push_back(g.reshape({-1}));
    }
    return at::cat(flat);
  }

  // Adam: Kingma & Ba, "Adam: a method for stochastic optimization", ICLR 2015; then the average.
  void step(const LearnedTensors& learned, const NetworkLearning& options) {
    const at::Tensor g = gradient(*learned.current, options.energy_penalty);
    const at::NoGradGuard no_gradients;
    at::Tensor mean = learned.mean, square = learned.square, flat = learned.current->flat;
    mean.mul_(options.beta1).add_(g, 1 - options.beta1);
    square.mul_(options.beta2).addcmul_(g, g, 1 - options.beta2);
    const at::Tensor root = square.sqrt().mul_(rates[1]).add_(options.epsilon);
    flat.sub_((mean / root).mul_(rates[0]));
    at::Tensor average = learned.averaged->flat;
    average.mul_(options.average_decay).add_(flat, 1 - options.average_decay);
  }
};

CudaResnetUpdate::CudaResnetUpdate(const LearnedTensors& learned, const NetworkLearning& options)
    : learned_(learned), options_(options) {
  // Algorithms that give the same bits each time and in each process, so that learning that was
  // stopped goes on as if it had not been.
  at::globalContext().setDeterministicCuDNN(true);
  at::globalContext().setBenchmarkCuDNN(false);
}

CudaResnetUpdate::~CudaResnetUpdate() = default;

std::vector<float> CudaResnetUpdate::operator()(Rows<const Symbol> data, Rows<const Symbol> samples,
                                                double rate, std::uint64_t step) {
  if (!captured_ || captured_->data != data.rows || captured_->samples != samples.rows) {
    captured_ = std::make_unique<Captured>(data.rows, samples.rows, data.cols);
    Captured& c = *captured_;
    // Libraries choose algorithms and take memory on the first calls, which must not be captured;
    // a gradient changes nothing.
    c.stream.run([&] {
      for (int k = 0; k < 3; ++k) c.gradient(*learned_.current, options_.energy_penalty);
    });
    c.stream.wait();
    c.graph = std::make_unique<cuda::Graph>(c.stream, [&] { c.step(learned_, options_); });
  }
  Captured& c = *captured_;
  auto* bytes = c.pixels_here.data_ptr<std::uint8_t>();
  copy_rows(data, bytes);
  copy_rows(samples, bytes + static_cast<std::ptrdiff_t>(data.rows) * data.cols);
  const auto t = static_cast<double>(step);
  auto* rates = c.rates_here.data_ptr<float>();
  rates[0] = static_cast<float>(rate / (1 - std::pow(options_.beta1, t)));
  rates[1] = static_cast<float>(1 / std::sqrt(1 - std::pow(options_.beta2, t)));
  c.stream.run([&] {
    c.pixels.copy_(c.pixels_here, true);
    c.rates.copy_(c.rates_here, true);
    c.graph->replay();
  });
  c.stream.wait();
  const at::Tensor f = c.f.cpu();
  return {f.data_ptr<float>(), f.data_ptr<float>() + f.numel()};
}

}  // namespace saltus
