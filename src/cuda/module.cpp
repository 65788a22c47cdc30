// CudaModule, and how the program gets at it.
#include "saltus/cuda/module.hpp"

#include "cuda/gpu.hpp"
#include "saltus/cuda/models.hpp"

namespace saltus {
namespace {

class Module final : public CudaModule {
 public:
  std::string gpu_name() const override { return cuda::gpu_name(); }
  std::unique_ptr<Target> on_device(const Target& target) const override {
    return cuda::on_device(target);
  }
};

}  // namespace
}  // namespace saltus

extern "C" {
__attribute__((visibility("default"))) const char* saltus_cuda_version() {
  return SALTUS_VERSION;
}
__attribute__((visibility("default"))) const saltus::CudaModule* saltus_cuda_module() {
  static const saltus::Module module;
  return &module;
}
}
