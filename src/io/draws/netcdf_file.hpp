// What writing and reading draws as netCDF share: the open file, its errors, the names it uses.
#pragma once

#include <dlfcn.h>
#include <fmt/format.h>
#include <netcdf.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <string>
#include <string_view>
#include <system_error>

#include "saltus/core/error.hpp"

namespace saltus::netcdf {

// The netCDF library serves one thread at a time. Recursive, because the draws that are written to
// one file may be read from another.
inline std::recursive_mutex& library_mutex() {
  static std::recursive_mutex mutex;
  return mutex;
}

// An open file; closed without complaint when an exception passes.
class File {
 public:
  File(std::string name, bool writing) : name_(std::move(name)), writing_(writing) {}
  ~File() {
    const std::lock_guard lock(library_mutex());
    if (!open_) return;
    // A file that is still being written here has failed, often because the disk is full. What the
    // library has yet to write needs room then: a file that it cannot close ends the program with a
    // crash in HDF5's own clean-up.
    std::error_code ignored;
    if (writing_) std::filesystem::resize_file(path_, 0, ignored);
    nc_close(id_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  void create(const std::filesystem::path& path) {
    path_ = path;
    keep_hdf5_from_exit();
    // Not even what HDF5 writes of an empty file would fit, see above.
    if (space_left() < kLeastSpace) check(NC_EHDFERR);
    check(nc_create(path.c_str(), NC_NETCDF4 | NC_CLOBBER, &id_));
    open_ = true;
  }
  void open(const std::filesystem::path& path) {
    path_ = path;
    keep_hdf5_from_exit();
    check(nc_open(path.c_str(), NC_NOWRITE, &id_));
    open_ = true;
  }
  void close() {
    check(nc_sync(id_));  // what can fail, while the file can still be given up
    open_ = false;
    check(nc_close(id_));
  }
  // Turns the status of a call into an exception.
  void check(int status) const {
    if (status == NC_NOERR) return;
    if (writing_) throw FileError(fmt::format("cannot write '{}': {}.", name_, why(status)), true);
    throw DataError(fmt::format("'{}' cannot be read as a netCDF-4 file: {}.", name_, why(status)));
  }
  int id() const { return id_; }
  const std::string& name() const { return name_; }

 private:
  // A block that does not fit leaves a part of it free.
  static constexpr std::uintmax_t kLittleSpace = std::uintmax_t{1} << 21;
  static constexpr std::uintmax_t kLeastSpace = std::uintmax_t{1} << 16;

  // HDF5 closes at exit what it could not close before, on a full disk say, and crashes over it.
  // Files are closed here: it has nothing to do then.
  static void keep_hdf5_from_exit() {
    static const bool kept = [] {
      void* const found = ::dlsym(RTLD_DEFAULT, "H5dont_atexit");
      return found && reinterpret_cast<int (*)()>(found)() >= 0;
    }();
    static_cast<void>(kept);
  }

  // The free bytes where the file lies; as many as can be where the system does not tell.
  std::uintmax_t space_left() const {
    std::error_code error;
    const auto space = std::filesystem::space(path_, error);
    return error || space.capacity == 0 ? static_cast<std::uintmax_t>(-1) : space.available;
  }
  // The library does not say which of the system's errors it met; the likely one can be seen.
  std::string why(int status) const {
    if (writing_ && space_left() < kLittleSpace) return "the disk is full";
    return fmt::format("the netCDF library reports '{}'", nc_strerror(status));
  }

  std::string name_;
  std::filesystem::path path_;
  bool writing_, open_ = false;
  int id_ = 0;
};

// Attributes of a group that are not from DrawsInfo::attributes.
inline bool is_own_attribute(std::string_view name) {
  const auto own = {
      "created_at",  "creation_library", "inference_library", "inference_library_version",
      "model",       "sampler",          "step_size",         "levels",
      "first_value", "spacing",          "classes",           "bonds",
      "exact",       "first_chain",      "chains_of_run"};
  return std::ranges::find(own, name) != own.end();
}

}  // namespace saltus::netcdf
