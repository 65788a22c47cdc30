// Makes what is linked with saltus::cuda known to cuda_module(). Not part of the loaded module,
// which is asked for by name.
#include "saltus/cuda/module.hpp"

extern "C" const saltus::CudaModule* saltus_cuda_module();

extern "C" const bool saltus_cuda_is_linked = [] {
  saltus::register_cuda_module(*saltus_cuda_module());
  return true;
}();
