#include "torch/module.hpp"

#include <ATen/Context.h>
#include <torch/version.h>

namespace saltus {

std::string LibtorchModule::version() const {
  return TORCH_VERSION;
}

bool LibtorchModule::has_cuda() const {
  return at::hasCUDA();
}

}  // namespace saltus

extern "C" {
__attribute__((visibility("default"))) const char* saltus_torch_version() {
  return SALTUS_VERSION;
}
__attribute__((visibility("default"))) const saltus::TorchModule* saltus_torch_module() {
  static const saltus::LibtorchModule module;
  return &module;
}
}
