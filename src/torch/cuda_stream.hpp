// A stream that libtorch enqueues on, with graphs in whose capture libtorch's memory takes part.
// Only with CUDA.
#pragma once

#include <memory>

#include "saltus/cuda/work_stream.hpp"

namespace saltus {

std::unique_ptr<cuda::WorkStream> make_torch_stream();

}  // namespace saltus
