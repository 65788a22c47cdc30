// Finding and loading the part that needs libtorch.
#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <vector>

#include "saltus/core/error.hpp"
#include "saltus/torch/module.hpp"
#include "saltus/version.hpp"

namespace saltus {
namespace {

namespace fs = std::filesystem;
constexpr const char* kFileName = "saltus_torch.so";

std::atomic<const TorchModule*> known{nullptr};

std::vector<fs::path> places() {
  if (const char* named = std::getenv("SALTUS_TORCH_MODULE"); named && *named) return {named};
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (error) return {};
  return {program.parent_path() / kFileName,
          program.parent_path().parent_path() / "lib" / "saltus" / kFileName};
}

fs::path find_module(const std::string& wanted_by) {
  std::string looked_at;
  for (const fs::path& place : places()) {
    std::error_code ignored;
    if (fs::exists(place, ignored)) return place;
    looked_at += (looked_at.empty() ? "" : " and ") + place.string();
  }
#ifdef SALTUS_HAVE_TORCH
  throw UsageError(
      "could not find saltus's part with libtorch, which " + wanted_by + " needs: there is no " +
      looked_at +
      "; build the target saltus_program (make does), or name the file in the environment "
      "variable SALTUS_TORCH_MODULE");
#else
  throw UsageError("this saltus was built without libtorch, which " + wanted_by +
                   " needs; install libtorch-dev and build again");
#endif
}

const TorchModule* load(const fs::path& file, const std::string& wanted_by) {
  const auto refuse = [&](const std::string& why) {
    throw UsageError("could not load " + file.string() + ", which " + wanted_by + " needs: " + why);
  };
  // Never closed: libtorch does not survive that.
  void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) refuse(dlerror());
  const auto version_of =
      reinterpret_cast<const char* (*)()>(dlsym(library, "saltus_torch_version"));
  const auto make =
      reinterpret_cast<const TorchModule* (*)()>(dlsym(library, "saltus_torch_module"));
  if (!version_of || !make) refuse("it is no part of saltus");
  if (std::string(version_of()) != version()) {
    refuse(std::string("it belongs to saltus ") + version_of() + ", but this is " + version());
  }
  return make();
}

}  // namespace

const TorchModule& torch_module(const std::string& wanted_by) {
  static std::mutex mutex;
  if (const TorchModule* module = known) return *module;
  const std::lock_guard lock(mutex);
  if (!known) known = load(find_module(wanted_by), wanted_by);
  return *known;
}

void register_torch_module(const TorchModule& module) {
  known = &module;
}

Device parse_device(const std::string& text) {
  if (text == "cpu") return Device::cpu;
  if (text == "cuda") return Device::cuda;
  throw UsageError("the device '" + text + "' is not known: it is cpu or cuda");
}

Precision parse_precision(const std::string& text) {
  if (text == "single") return Precision::single;
  if (text == "tf32") return Precision::tf32;
  if (text == "half") return Precision::half;
  throw UsageError("the precision '" + text + "' is not known: it is single, tf32 or half");
}

}  // namespace saltus
