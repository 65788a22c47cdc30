#include "torch/resnet_target.hpp"

#include <torch/csrc/autograd/grad_mode.h>

#include <cmath>

#include "torch/devices.hpp"
#include "torch/resnet_network.hpp"
#ifdef SALTUS_TORCH_ON_CUDA
#include "torch/cuda_energies.hpp"
#endif

namespace saltus {
namespace {

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

}  // namespace saltus
