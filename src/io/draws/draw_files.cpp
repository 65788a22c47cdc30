#include "saltus/io/draw_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "io/bytes/new_file.hpp"
#include "io/draws/formats.hpp"
#include "saltus/core/error.hpp"

namespace saltus {
namespace {

enum class Format { npz, netcdf, csv, unknown };

#ifdef SALTUS_HAVE_NETCDF
constexpr bool kHaveNetcdf = true;
constexpr const char* kExtensions = ".npz, .nc or .csv";
#else
constexpr bool kHaveNetcdf = false;
constexpr const char* kExtensions = ".npz or .csv";
#endif

Format format_of(const std::filesystem::path& path) {
  std::string extension = path.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (extension == ".npz") return Format::npz;
  if (extension == ".nc") return Format::netcdf;
  if (extension == ".csv") return Format::csv;
  return Format::unknown;
}

// Why this build has no use for a file of that name; empty when it has one.
std::string objection(const std::filesystem::path& path) {
  const Format format = format_of(path);
  if (format == Format::netcdf && !kHaveNetcdf) {
    return fmt::format("this saltus was built without netCDF, so use {}", kExtensions);
  }
  if (format != Format::unknown) return "";
  if (path.extension().empty()) {
    return fmt::format("its name has no extension to tell the format; use {}", kExtensions);
  }
  return fmt::format("no format for draws has the extension '{}'; use {}",
                     path.extension().string(), kExtensions);
}

}  // namespace

bool can_write_draws(const std::filesystem::path& path, std::string* why) {
  const std::string reason = objection(path);
  if (!reason.empty() && why != nullptr) {
    *why = fmt::format("cannot write '{}': {}.", path.string(), reason);
  }
  return reason.empty();
}

void write_draws(const std::filesystem::path& path, const Draws& draws) {
  if (std::string why; !can_write_draws(path, &why)) throw FileError(why, true);
  NewFile file(path);
  const std::string name = path.string();
  switch (format_of(path)) {
    case Format::npz:
      write_npz_draws(file.path(), name, draws);
      break;
    case Format::csv:
      write_csv_draws(file.path(), name, draws);
      break;
#ifdef SALTUS_HAVE_NETCDF
    case Format::netcdf:
      write_netcdf_draws(file.path(), name, draws);
      break;
#endif
    default:
      break;  // refused above
  }
  file.keep();
}

std::unique_ptr<Draws> open_draws(const std::filesystem::path& path) {
  if (const std::string why = objection(path); !why.empty()) {
    throw FileError(fmt::format("cannot open '{}': {}.", path.string(), why), false);
  }
  switch (format_of(path)) {
    case Format::npz:
      return open_npz_draws(path);
#ifdef SALTUS_HAVE_NETCDF
    case Format::netcdf:
      return open_netcdf_draws(path);
#endif
    default:
      return open_csv_draws(path);
  }
}

}  // namespace saltus
