#include "torch/resnet_network.hpp"

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

}  // namespace saltus
