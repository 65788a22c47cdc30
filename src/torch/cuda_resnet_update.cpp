#include "torch/cuda_resnet_update.hpp"

#include <torch/csrc/autograd/grad_mode.h>

#include "cuda/resnet/gradient/gradient.hpp"
#include "torch/cuda_energies.hpp"

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
  std::unique_ptr<cuda::WorkStream> stream = make_torch_stream();
  at::Tensor pixels_here, pixels;  // bytes: pinned, and on the GPU
  at::Tensor weights;              // of the rows in the loss
  at::Tensor rates_here, rates;    // the corrected rate, and 1 / sqrt(1 - beta2^t)
  at::Tensor f;
  std::unique_ptr<cuda::ResnetGradient> products;  // null: libtorch differentiates
  std::unique_ptr<cuda::Graph> graph;

  Captured(const ResnetShape& shape, int data_rows, int sample_rows)
      : data(data_rows), samples(sample_rows) {
    const std::int64_t rows = data + samples, dim = shape.pixels();
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
    if (!cuda::ResnetGradient::serves(shape)) return;
    products = std::make_unique<cuda::ResnetGradient>(shape, data + samples,
                                                      at::globalContext().allowTF32CuDNN());
  }

  at::Tensor gradient(const ResnetTensors& network, double penalty) {
    if (products) {
      const at::Tensor values = pixels.to(at::kFloat), slope = at::empty_like(network.flat);
      products->enqueue(stream->get(), {network.flat.data_ptr<float>(), values.data_ptr<float>(),
                                        weights.data_ptr<float>(), static_cast<float>(penalty),
                                        f.data_ptr<float>(), slope.data_ptr<float>()});
      return slope;
    }
    const Differentiated d =
        differentiate(network, pixels.to(at::kFloat), [&](const at::Tensor& out) {
          return (out * weights + penalty * weights.abs() * out.square()).sum();
        });
    f.copy_(d.f);
    return d.gradient;
  }
};

CudaResnetUpdate::CudaResnetUpdate(std::shared_ptr<const ResnetTensors> current,
                                   std::shared_ptr<const ResnetTensors> averaged,
                                   const NetworkLearning& options)
    : current_(std::move(current)),
      averaged_(std::move(averaged)),
      options_(options),
      mean_(at::zeros_like(current_->flat)),
      square_(at::zeros_like(current_->flat)) {
  // Algorithms that give the same bits each time and in each process, so that learning that was
  // stopped goes on as if it had not been.
  at::globalContext().setDeterministicCuDNN(true);
  at::globalContext().setBenchmarkCuDNN(false);
}

CudaResnetUpdate::~CudaResnetUpdate() = default;

// As saltus::Adam, by operations of libtorch that a graph can hold; then the average.
void CudaResnetUpdate::step(const at::Tensor& gradient, const at::Tensor& rates) {
  const at::NoGradGuard no_gradients;
  const AdamOptions& adam = options_.adam;
  mean_.mul_(adam.beta1).add_(gradient, 1 - adam.beta1);
  square_.mul_(adam.beta2).addcmul_(gradient, gradient, 1 - adam.beta2);
  const at::Tensor root = square_.sqrt().mul_(rates[1]).add_(adam.epsilon);
  at::Tensor flat = current_->flat, average = averaged_->flat;
  flat.sub_((mean_ / root).mul_(rates[0]));
  average.mul_(options_.average_decay).add_(flat, 1 - options_.average_decay);
}

std::vector<float> CudaResnetUpdate::operator()(Rows<const Symbol> data, Rows<const Symbol> samples,
                                                double rate) {
  if (!captured_ || captured_->data != data.rows || captured_->samples != samples.rows) {
    captured_ = std::make_unique<Captured>(current_->shape, data.rows, samples.rows);
    Captured& c = *captured_;
    // Libraries choose algorithms and take memory on the first calls, which must not be captured;
    // a gradient changes nothing.
    c.stream->run([&] {
      for (int k = 0; k < 3; ++k) c.gradient(*current_, options_.energy_penalty);
    });
    c.stream->wait();
    c.graph =
        c.stream->capture([&] { step(c.gradient(*current_, options_.energy_penalty), c.rates); });
  }
  Captured& c = *captured_;
  auto* bytes = c.pixels_here.data_ptr<std::uint8_t>();
  copy_rows(data, bytes);
  copy_rows(samples, bytes + static_cast<std::ptrdiff_t>(data.rows) * data.cols);
  ++steps_;
  auto* rates = c.rates_here.data_ptr<float>();
  rates[0] = static_cast<float>(options_.adam.corrected_rate(rate, steps_));
  rates[1] = static_cast<float>(options_.adam.root_factor(steps_));
  c.stream->run([&] {
    c.pixels.copy_(c.pixels_here, true);
    c.rates.copy_(c.rates_here, true);
    c.graph->replay();
  });
  c.stream->wait();
  const at::Tensor f = c.f.cpu();
  return {f.data_ptr<float>(), f.data_ptr<float>() + f.numel()};
}

void CudaResnetUpdate::save(ByteWriter& out) const {
  out.put(steps_);
  put_tensor(out, mean_);
  put_tensor(out, square_);
}

void CudaResnetUpdate::restore(ByteReader& in) {
  steps_ = in.get<std::uint64_t>();
  get_tensor(in, mean_);
  get_tensor(in, square_);
}

}  // namespace saltus
