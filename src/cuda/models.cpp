#include "saltus/cuda/models.hpp"

#include <map>
#include <mutex>

#include "cuda/binary_network/energy.hpp"
#include "cuda/chains/step_kernels.hpp"
#include "cuda/lattice/chains.hpp"
#include "cuda/rbm/rbm_energy.hpp"
#include "saltus/core/error.hpp"
#include "saltus/cuda/module.hpp"

namespace saltus::cuda {
namespace {

struct Entry {
  std::string name;
  MakeOnDevice make;
};

std::shared_ptr<DeviceEnergy> rbm_energy(const Rbm& rbm) {
  if (rbm.model().constant != 0) {
    throw UsageError("an RBM with a constant is computed on the processor");
  }
  return std::make_shared<RbmEnergy>(rbm.model());
}

// Begins with the models of this library: a line for each.
struct Registry {
  std::mutex mutex;
  std::map<std::type_index, Entry> entries = {
      {typeid(Rbm), {"rbm", by_energy<Rbm>(rbm_energy)}},
      {typeid(BinaryNetwork), {"bnn", by_target<BinaryNetwork>(binary_network_on_cuda)}},
      {typeid(IsingLattice),
       {"ising-lattice with two sides", by_target<IsingLattice>(lattice_on_cuda)}}};
};

Registry& registry() {
  static Registry models;
  return models;
}

Entry find(const Target& target) {
  Registry& models = registry();
  const std::lock_guard held(models.mutex);
  if (const auto it = models.entries.find(typeid(target)); it != models.entries.end()) {
    return it->second;
  }
  std::string names;
  for (const auto& [type, entry] : models.entries) {
    names += (names.empty() ? "" : ", ") + entry.name;
  }
  throw UsageError("the model " + target.name() + " has no version for the device cuda; " + names +
                   ", and networks by libtorch, have one");
}

cudaDeviceProp properties() {
  int device = 0;
  cudaDeviceProp found{};
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaGetDeviceProperties(&found, device), "cudaGetDeviceProperties");
  return found;
}

// Empty: there is none.
std::string name_of_gpu() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) return "";
  return properties().name;
}

// Throws UsageError when there is no GPU, or none that this build has kernels for.
void require_gpu() {
  int count = 0;
  if (const cudaError_t status = cudaGetDeviceCount(&count); status != cudaSuccess || count == 0) {
    throw UsageError(std::string("the device cuda cannot be used: no NVIDIA GPU was found (") +
                     cudaGetErrorString(status) + ")");
  }
  if (kernels_fit()) return;
  const cudaDeviceProp gpu = properties();
  // Hopper's own instructions go by the name 90a.
  const std::string capability =
      std::to_string(gpu.major) + std::to_string(gpu.minor) + (gpu.major == 9 ? "a" : "");
  throw UsageError(std::string("the device cuda cannot be used: this saltus was built for the GPU "
                               "architectures " SALTUS_CUDA_ARCHITECTURES ", and ") +
                   gpu.name + " is " + capability +
                   "; build it with -DCMAKE_CUDA_ARCHITECTURES=" + capability);
}

}  // namespace

void add_model(std::type_index type, const std::string& name, MakeOnDevice make) {
  Registry& models = registry();
  const std::lock_guard held(models.mutex);
  models.entries[type] = {name, std::move(make)};
}

std::unique_ptr<Target> on_device(const Target& target) {
  const Entry model = find(target);
  require_gpu();
  return model.make(target);
}

namespace {

class Module final : public CudaModule {
 public:
  std::string gpu_name() const override { return name_of_gpu(); }
  std::unique_ptr<Target> on_device(const Target& target) const override {
    return cuda::on_device(target);
  }
};

}  // namespace
}  // namespace saltus::cuda

extern "C" {
__attribute__((visibility("default"))) const char* saltus_cuda_version() {
  return SALTUS_VERSION;
}
__attribute__((visibility("default"))) const saltus::CudaModule* saltus_cuda_module() {
  static const saltus::cuda::Module module;
  return &module;
}
}
