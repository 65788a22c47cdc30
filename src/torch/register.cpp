// Makes what is linked with saltus::torch known to torch_module(). Not part of the loaded module,
// which is asked for by name.
#include "saltus/torch/module.hpp"

extern "C" const saltus::TorchModule* saltus_torch_module();

extern "C" const bool saltus_torch_is_linked = [] {
  saltus::register_torch_module(*saltus_torch_module());
  return true;
}();
