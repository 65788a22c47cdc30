#include "module/part.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

#include "saltus/core/error.hpp"
#include "saltus/version.hpp"

namespace saltus {
namespace {

namespace fs = std::filesystem;

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

}  // namespace

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

}  // namespace saltus
