// Networks as energies of chains that live on a GPU. Only with CUDA.
#pragma once

#include <ATen/ATen.h>

#include <functional>
#include <memory>

#include "saltus/cuda/device_energy.hpp"
#include "torch/resnet_target.hpp"

namespace saltus {

// A stream that libtorch enqueues on, with graphs in whose capture libtorch's memory takes part.
std::unique_ptr<cuda::WorkStream> make_torch_stream();

std::unique_ptr<Target> make_cuda_resnet(std::shared_ptr<const ResnetTensors> tensors,
                                         const DeviceChoice& choice);
// A script's target with two levels, given its log p.
std::unique_ptr<Target> make_cuda_script(const Domain& domain,
                                         std::function<at::Tensor(const at::Tensor&)> log_p);

}  // namespace saltus
