// Which models have a version on the GPU: a registry by the type of the target on the host. A line
// here is all that a model needs beside its energy.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <typeindex>

#include "saltus/cuda/cuda_target.hpp"

namespace saltus::cuda {

using MakeOnDevice = std::function<std::unique_ptr<Target>(const Target&)>;

// How targets of type T get to the GPU: make(const T&) returns a unique_ptr to a Target ...
template <class T, class Make>
MakeOnDevice by_target(Make make) {
  return [make](const Target& target) { return make(static_cast<const T&>(target)); };
}
// ... or a shared_ptr to a DeviceEnergy.
template <class T, class Make>
MakeOnDevice by_energy(Make make) {
  return by_target<T>([make](const T& target) {
    return std::make_unique<CudaTarget>(target.name(), target.domain(), target.shape(),
                                        make(target));
  });
}

// Targets of this very type are made by `make` from then on; `name` stands in messages.
void add_model(std::type_index type, const std::string& name, MakeOnDevice make);

// The same distribution on the GPU; see CudaModule::on_device.
std::unique_ptr<Target> on_device(const Target& target);

}  // namespace saltus::cuda
