// The GPU of this machine.
#pragma once

#include <string>

namespace saltus::cuda {

std::string gpu_name();  // empty: there is none

// Throws UsageError when there is no GPU, or none that this build has kernels for.
void require_gpu();

}  // namespace saltus::cuda
