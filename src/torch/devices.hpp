// Where tensors are and how they are multiplied.
#pragma once

#include <ATen/ATen.h>

#include "saltus/torch/module.hpp"

namespace saltus {

// The device, ready for use; on a GPU, products of all tensors are in single precision or TF32 from
// then on, as chosen. Throws UsageError when there is none, or for a precision that it does not
// have.
at::Device tensor_device(const DeviceChoice& choice);

}  // namespace saltus
