// Networks as energies of chains that live on a GPU. Only with CUDA.
#pragma once

#include <ATen/ATen.h>

#include <functional>
#include <memory>

#include "saltus/cuda/device_energy.hpp"
#include "torch/resnet_target.hpp"

namespace saltus {

// log p by any function of tensors, differentiated by libtorch: (rows, dim) to (rows).
std::shared_ptr<cuda::DeviceEnergy> make_torch_energy(
    int dim, std::function<at::Tensor(const at::Tensor&)> log_p);

// The one place where the energy of a residual network on a GPU is chosen, by shape and precision.
std::shared_ptr<cuda::DeviceEnergy> make_resnet_energy(std::shared_ptr<const ResnetTensors> tensors,
                                                       const DeviceChoice& choice);

std::unique_ptr<Target> make_cuda_resnet(std::shared_ptr<const ResnetTensors> tensors,
                                         const DeviceChoice& choice);
// A script's target with two levels, given its log p.
std::unique_ptr<Target> make_cuda_script(const Domain& domain,
                                         std::function<at::Tensor(const at::Tensor&)> log_p);

}  // namespace saltus
