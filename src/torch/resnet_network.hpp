// The residual network of a ResnetEnergy, f(x), on tensors.
#pragma once

#include <ATen/ATen.h>

#include <vector>

#include "saltus/target/resnet_energy.hpp"

namespace saltus {

// The parameter arrays as views of a flat tensor, in the order of parameter_arrays. They follow
// what is written into it.
std::vector<at::Tensor> parameter_views(const ResnetShape& shape, const at::Tensor& flat);

// f, one number for each row of x (rows, pixels).
at::Tensor resnet_forward(const ResnetShape& shape, const std::vector<at::Tensor>& parameters,
                          const at::Tensor& x);

}  // namespace saltus
