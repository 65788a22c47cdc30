#include "torch/resnet_network.hpp"

namespace saltus {
namespace {

// Takes the arrays of a network one after the other.
class Layers {
 public:
  Layers(const std::vector<at::Tensor>& parameters, at::ScalarType operand)
      : next_(parameters.data()), operand_(operand) {}

  at::Tensor convolve(const at::Tensor& x, int stride) {
    const at::Tensor &weight = next_[0], &bias = next_[1];
    next_ += 2;
    const std::int64_t padding = weight.size(2) / 2;
    if (operand_ == at::kFloat) {
      return at::conv2d(x, weight, bias, {stride, stride}, {padding, padding});
    }
    const at::Tensor sums =
        at::conv2d(x.to(operand_), weight.to(operand_), {}, {stride, stride}, {padding, padding});
    return sums.to(at::kFloat) + bias.view({1, -1, 1, 1});
  }

  at::Tensor read_out(const at::Tensor& features) {
    return (features * next_[0]).sum(1) + next_[1];
  }

 private:
  const at::Tensor* next_;
  at::ScalarType operand_;
};

}  // namespace

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

at::Tensor resnet_forward(const ResnetShape& shape, const std::vector<at::Tensor>& parameters,
                          const at::Tensor& x, at::ScalarType operand) {
  Layers layers(parameters, operand);
  at::Tensor y = layers.convolve(x.view({x.size(0), 1, shape.height, shape.width}), 1);
  for (int k = 0; k < shape.blocks; ++k) {
    const int stride = k < shape.halvings ? 2 : 1;
    at::Tensor inner = layers.convolve(at::silu(layers.convolve(y, stride)), 1);
    y = at::silu(inner + (stride == 2 ? layers.convolve(y, stride) : y));
  }
  return layers.read_out(y.mean({2, 3}));
}

}  // namespace saltus
