// A ResnetEnergy as a target, with its parameters in tensors.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "saltus/core/bytes.hpp"
#include "saltus/torch/module.hpp"
#include "torch/network_target.hpp"

namespace saltus {

// The parameters on their device. Targets look at them at each evaluation, so that they may change
// in place. Who keeps something computed from them, a copy in half precision say, adds a listener,
// which is called after each change.
struct ResnetTensors {
  ResnetTensors(const ResnetEnergy& energy, at::Device device);
  void changed() const {
    for (const auto& listener : listeners) listener();
  }

  ResnetShape shape;
  at::Tensor flat;
  std::vector<at::Tensor> views;  // the arrays of `flat`; they follow what is written into it
  // sum_i [x_i log m_i + (1 - x_i) log(1 - m_i)] = base_constant + sum_i base_logit_i x_i
  std::vector<double> base_mean;
  std::vector<float> base_logit;
  double base_constant = 0;
  mutable std::vector<std::function<void()>> listeners;
};

// f, one number for each row of x (rows, pixels), by arrays in the order of parameter_arrays.
at::Tensor resnet_forward(const ResnetShape& shape, const std::vector<at::Tensor>& parameters,
                          const at::Tensor& x);

// f of the rows of x, and the gradient of loss(f) by all parameters.
struct Differentiated {
  at::Tensor f, gradient;
};
Differentiated differentiate(const ResnetTensors& network, const at::Tensor& x,
                             const std::function<at::Tensor(const at::Tensor& f)>& loss);

std::vector<float> to_host(const at::Tensor& flat);

// Tensors of single precision in checkpoints; what is read goes into the tensor's memory.
void put_tensor(ByteWriter& out, const at::Tensor& tensor);
void get_tensor(ByteReader& in, const at::Tensor& tensor);

std::unique_ptr<Target> make_resnet_target(std::shared_ptr<const ResnetTensors> tensors,
                                           const DeviceChoice& choice);

}  // namespace saltus
