// The same distribution as a network with weights -1 and +1 on the host, on the GPU.
#pragma once

#include <memory>

#include "saltus/target/binary_network.hpp"

namespace saltus::cuda {

// It is a NetworkPredictions, too.
std::unique_ptr<Target> binary_network_on_cuda(const BinaryNetwork& network);

}  // namespace saltus::cuda
