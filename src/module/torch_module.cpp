// The part with libtorch.
#include "module/part.hpp"
#include "saltus/torch/module.hpp"

#ifndef SALTUS_HAVE_TORCH
#define SALTUS_HAVE_TORCH 0
#endif

namespace saltus {
namespace {

Part<TorchModule>& torch_part() {
  static Part<TorchModule> torch(
      {"torch", "SALTUS_TORCH_MODULE", "libtorch", SALTUS_HAVE_TORCH, "install libtorch-dev"});
  return torch;
}

}  // namespace

const TorchModule& torch_module(const std::string& wanted_by) {
  return torch_part().get(wanted_by);
}

void register_torch_module(const TorchModule& module) {
  torch_part().set(module);
}

}  // namespace saltus
