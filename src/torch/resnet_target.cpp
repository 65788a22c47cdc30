#include "torch/resnet_target.hpp"

#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/grad_mode.h>

#include <cmath>

#include "torch/libtorch.hpp"
#include "torch/module.hpp"
#ifdef SALTUS_TORCH_ON_CUDA
#include "torch/cuda_energies.hpp"
#endif

namespace saltus {
namespace {

// Takes the arrays of a network one after the other.
class Layers {
 public:
  explicit Layers(const std::vector<at::Tensor>& parameters) : next_(parameters.data()) {}

  at::Tensor convolve(const at::Tensor& x, int stride) {
    const at::Tensor &weight = next_[0], &bias = next_[1];
    next_ += 2;
    const std::int64_t padding = weight.size(2) / 2;
    return at::conv2d(x, weight, bias, {stride, stride}, {padding, padding});
  }

  at::Tensor read_out(const at::Tensor& features) {
    return (features * next_[0]).sum(1) + next_[1];
  }

 private:
  const at::Tensor* next_;
};

std::vector<at::Tensor> parameter_views(const ResnetShape& shape, const at::Tensor& flat) {
  std::vector<at::Tensor> views;
  for (const ParameterArray& array : parameter_arrays(shape)) {
    const std::vector<std::int64_t> sizes(array.shape.begin(), array.shape.end());
    views.push_back(flat.narrow(0, static_cast<std::int64_t>(array.begin),
                                static_cast<std::int64_t>(array.size))
                        .view(sizes));
  }
  return views;
}

class ResnetTarget final : public NetworkTarget {
 public:
  explicit ResnetTarget(std::shared_ptr<const ResnetTensors> tensors)
      : NetworkTarget(Domain::binary(tensors->shape.pixels()), tensors->flat.device()),
        tensors_(std::move(tensors)) {}

  std::string name() const override { return "resnet-ebm"; }
  std::vector<int> shape() const override {
    return {tensors_->shape.height, tensors_->shape.width};
  }
  // A row is so much work that there is little to gain from more of them.
  int preferred_tile() const override {
    return device().is_cpu() ? 16 : NetworkTarget::preferred_tile();
  }

 protected:
  at::Tensor network(const at::Tensor& x) const override {
    return resnet_forward(tensors_->shape, tensors_->views, x);
  }

  void add_base(Rows<const float> v, double* logp, Rows<float> score) const override {
    const float* const logit = tensors_->base_logit.data();
    for (int r = 0; r < v.rows; ++r) {
      if (logp) {
        double sum = tensors_->base_constant;
        for (int i = 0; i < v.cols; ++i) sum += double{logit[i]} * v[r][i];
        logp[r] += sum;
      }
      if (score) {
        for (int i = 0; i < v.cols; ++i) score[r][i] += logit[i];
      }
    }
  }

 private:
  std::shared_ptr<const ResnetTensors> tensors_;
};

}  // namespace

at::Tensor resnet_forward(const ResnetShape& shape, const std::vector<at::Tensor>& parameters,
                          const at::Tensor& x) {
  Layers layers(parameters);
  at::Tensor y = layers.convolve(x.view({x.size(0), 1, shape.height, shape.width}), 1);
  for (int k = 0; k < shape.blocks; ++k) {
    const int stride = k < shape.halvings ? 2 : 1;
    at::Tensor inner = layers.convolve(at::silu(layers.convolve(y, stride)), 1);
    y = at::silu(inner + (stride == 2 ? layers.convolve(y, stride) : y));
  }
  return layers.read_out(y.mean({2, 3}));
}

Differentiated differentiate(const ResnetTensors& network, const at::Tensor& x,
                             const std::function<at::Tensor(const at::Tensor& f)>& loss) {
  const at::AutoGradMode gradients(true);
  std::vector<at::Tensor> leaves, flat;
  for (const at::Tensor& view : network.views) {
    leaves.push_back(view.detach().requires_grad_(true));
  }
  const at::Tensor f = resnet_forward(network.shape, leaves, x);
  for (const at::Tensor& g : torch::autograd::grad({loss(f)}, leaves)) {
    flat.push_back(g.reshape({-1}));
  }
  return {f.detach(), at::cat(flat)};
}

ResnetTensors::ResnetTensors(const ResnetEnergy& energy, at::Device device)
    : shape(energy.shape), base_mean(energy.base_mean) {
  check(energy);
  const auto count = static_cast<std::int64_t>(energy.parameters.size());
  flat = at::empty({count}, at::kFloat);
  std::copy(energy.parameters.begin(), energy.parameters.end(), flat.data_ptr<float>());
  flat = flat.to(device);
  views = parameter_views(shape, flat);
  for (const double m : energy.base_mean) {
    base_logit.push_back(static_cast<float>(std::log(m) - std::log1p(-m)));
    base_constant += std::log1p(-m);
  }
}

std::vector<float> to_host(const at::Tensor& flat) {
  const at::Tensor here = flat.to(at::kCPU).contiguous();
  return {here.data_ptr<float>(), here.data_ptr<float>() + here.numel()};
}

void put_tensor(ByteWriter& out, const at::Tensor& tensor) {
  const std::vector<float> values = to_host(tensor);
  out.put_array(std::span<const float>(values));
}

void get_tensor(ByteReader& in, const at::Tensor& tensor) {
  at::Tensor here = at::empty_like(tensor, at::TensorOptions(at::kCPU));
  in.get_array(std::span(here.data_ptr<float>(), static_cast<std::size_t>(here.numel())));
  const at::NoGradGuard no_gradients;
  tensor.copy_(here);
}

std::unique_ptr<Target> make_resnet_target(std::shared_ptr<const ResnetTensors> tensors,
                                           [[maybe_unused]] const DeviceChoice& choice) {
#ifdef SALTUS_TORCH_ON_CUDA
  if (choice.device == Device::cuda) return make_cuda_resnet(std::move(tensors), choice);
#endif
  return std::make_unique<ResnetTarget>(std::move(tensors));
}

std::unique_ptr<Target> LibtorchModule::resnet(ResnetEnergy energy,
                                               const DeviceChoice& choice) const {
  return make_resnet_target(std::make_shared<const ResnetTensors>(energy, tensor_device(choice)),
                            choice);
}

}  // namespace saltus
