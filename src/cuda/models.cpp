#include "saltus/cuda/models.hpp"

#include <map>
#include <mutex>

#include "cuda/binary_network/on_cuda.hpp"
#include "cuda/gpu.hpp"
#include "cuda/rbm/rbm_energy.hpp"
#include "saltus/core/error.hpp"

namespace saltus::cuda {
namespace {

struct Entry {
  std::string name;
  MakeOnDevice make;
};

using Models = std::map<std::type_index, Entry>;

// The models of this library: a line for each.
Models own_models() {
  const auto rbm = [](const Rbm& from) { return std::make_shared<RbmEnergy>(from.model()); };
  return {{typeid(Rbm), {"rbm", by_energy<Rbm>(rbm)}},
          {typeid(BinaryNetwork), {"bnn", by_target<BinaryNetwork>(binary_network_on_cuda)}}};
}

struct Registry {
  std::mutex mutex;
  Models entries = own_models();
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

}  // namespace saltus::cuda
