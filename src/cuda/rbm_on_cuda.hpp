// The same distribution as a restricted Boltzmann machine on the host, on the GPU.
#pragma once

#include <memory>

#include "saltus/target/rbm.hpp"

namespace saltus::cuda {

// With the parameters of now.
std::unique_ptr<Target> rbm_on_cuda(const Rbm& rbm);

}  // namespace saltus::cuda
