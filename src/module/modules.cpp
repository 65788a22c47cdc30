// The parts of saltus that need other libraries, CUDA, libtorch and MPI, and are therefore modules,
// loaded on first use: saltus_NAME.so, looked for at SALTUS_NAME_MODULE (environment), beside the
// program, and in ../lib/saltus from there.
#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <string>
#include <vector>

#include "saltus/core/error.hpp"
#include "saltus/cuda/module.hpp"
#include "saltus/mpi/module.hpp"
#include "saltus/torch/module.hpp"
#include "saltus/version.hpp"

#ifndef SALTUS_HAVE_CUDA
#define SALTUS_HAVE_CUDA 0
#endif
#ifndef SALTUS_HAVE_TORCH
#define SALTUS_HAVE_TORCH 0
#endif
#ifndef SALTUS_HAVE_MPI
#define SALTUS_HAVE_MPI 0
#endif

namespace saltus {
namespace {

namespace fs = std::filesystem;

struct PartFile {
  std::string name;      // "torch"
  std::string variable;  // "SALTUS_TORCH_MODULE"
  std::string needs;     // "libtorch", in messages
  bool built;            // the part belongs to this build
  std::string advice;    // how to get it, where it does not
};

std::vector<fs::path> places(const PartFile& part) {
  if (const char* named = std::getenv(part.variable.c_str()); named && *named) return {named};
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (error) return {};
  const std::string file = "saltus_" + part.name + ".so";
  return {program.parent_path() / file,
          program.parent_path().parent_path() / "lib" / "saltus" / file};
}

fs::path find(const PartFile& part, const std::string& wanted_by) {
  std::string looked_at;
  for (const fs::path& place : places(part)) {
    std::error_code ignored;
    if (fs::exists(place, ignored)) return place;
    looked_at += (looked_at.empty() ? "" : " and ") + place.string();
  }
  if (!part.built) {
    throw UsageError("this saltus was built without " + part.needs + ", which " + wanted_by +
                     " needs; " + part.advice + " and build again");
  }
  throw UsageError("could not find saltus's part with " + part.needs + ", which " + wanted_by +
                   " needs: there is no " + looked_at +
                   "; build the target saltus_program (make does), or "
                   "name the file in the environment variable " +
                   part.variable);
}

// What the module's function saltus_NAME_module returns. Throws UsageError saying what is missing,
// in a sentence with `wanted_by`.
const void* load_part(const PartFile& part, const std::string& wanted_by) {
  const fs::path file = find(part, wanted_by);
  const auto refuse = [&](const std::string& why) {
    throw UsageError("could not load " + file.string() + ", which " + wanted_by + " needs: " + why);
  };
  // Never closed: libtorch does not survive that.
  void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) refuse(dlerror());
  const auto symbol = [&](const char* what) {
    return dlsym(library, ("saltus_" + part.name + "_" + what).c_str());
  };
  const auto version_of = reinterpret_cast<const char* (*)()>(symbol("version"));
  const auto make = reinterpret_cast<const void* (*)()>(symbol("module"));
  if (!version_of || !make) refuse("it is no part of saltus");
  if (std::string(version_of()) != version()) {
    refuse(std::string("it belongs to saltus ") + version_of() + ", but this is " + version());
  }
  return make();
}

// The one instance of a module: linked into the program, or loaded.
template <class Module>
class Part {
 public:
  explicit Part(PartFile file) : file_(std::move(file)) {}
  void set(const Module& module) { known_ = &module; }
  const Module& get(const std::string& wanted_by) {
    if (const Module* module = known_) return *module;
    const std::lock_guard held(mutex_);
    if (!known_) known_ = static_cast<const Module*>(load_part(file_, wanted_by));
    return *known_;
  }

 private:
  PartFile file_;
  std::mutex mutex_;
  std::atomic<const Module*> known_{nullptr};
};

Part<CudaModule>& cuda_part() {
  static Part<CudaModule> cuda({"cuda", "SALTUS_CUDA_MODULE", "CUDA", SALTUS_HAVE_CUDA,
                                "install NVIDIA's CUDA toolkit (nvcc and cuBLAS)"});
  return cuda;
}

Part<TorchModule>& torch_part() {
  static Part<TorchModule> torch(
      {"torch", "SALTUS_TORCH_MODULE", "libtorch", SALTUS_HAVE_TORCH, "install libtorch-dev"});
  return torch;
}

Part<MpiModule>& mpi_part() {
  static Part<MpiModule> mpi(
      {"mpi", "SALTUS_MPI_MODULE", "MPI", SALTUS_HAVE_MPI, "install libopenmpi-dev"});
  return mpi;
}

// The first of some variables of the environment that is a number; -1: none.
int number_in_environment(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (const char* text = std::getenv(name); text && *text) return std::max(0, std::atoi(text));
  }
  return -1;
}

}  // namespace

const CudaModule& cuda_module(const std::string& wanted_by) {
  return cuda_part().get(wanted_by);
}

void register_cuda_module(const CudaModule& module) {
  cuda_part().set(module);
}

std::string gpu_name() {
  try {
    return cuda_module().gpu_name();
  } catch (const UsageError&) {
    return "";
  }
}

const TorchModule& torch_module(const std::string& wanted_by) {
  return torch_part().get(wanted_by);
}

void register_torch_module(const TorchModule& module) {
  torch_part().set(module);
}

// Open MPI and MPICH name both numbers; Slurm names its own, and PMIx that it serves MPI.
Launched launched_processes() {
  const bool slurm = std::getenv("PMIX_RANK") != nullptr;
  const int rank = number_in_environment({"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"});
  int size = number_in_environment({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"});
  if (size < 0 && slurm) size = number_in_environment({"SLURM_NTASKS"});
  if (rank < 0 || size < 1) return {};
  return {rank, size};
}

const MpiModule& mpi_module(const std::string& wanted_by) {
  return mpi_part().get(wanted_by);
}

void register_mpi_module(const MpiModule& module) {
  mpi_part().set(module);
}

}  // namespace saltus
