// How libtorch is used: where tensors are, by how many threads, and what it throws.
#pragma once

#include <ATen/ATen.h>

#include <exception>
#include <string>

#include "saltus/core/device.hpp"

namespace saltus {

// The device, ready for use; on a GPU, products of all tensors are in single precision or TF32 from
// then on, as chosen. Throws UsageError when there is none, or for a precision that it does not
// have.
at::Device tensor_device(const DeviceChoice& choice);

// Tiles are the unit of parallel work: makes tensor operations of the calling thread, and of
// threads to come, run on one thread.
void use_one_thread();

// The line that tells what went wrong; libtorch writes many around it.
std::string words_of(const std::exception& error);

// f(), with what it throws as a ComputationError that names `origin`.
[[noreturn]] void throw_failure(const std::string& origin, const std::exception& error);
template <class F>
auto or_failure(const std::string& origin, const F& f) {
  try {
    return f();
  } catch (const std::exception& error) {
    throw_failure(origin, error);
  }
}

}  // namespace saltus
