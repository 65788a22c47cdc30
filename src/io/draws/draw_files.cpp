#include "saltus/io/draw_files.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "io/bytes/new_file.hpp"
#include "io/bytes/words.hpp"
#include "io/draws/formats.hpp"
#include "saltus/core/error.hpp"

namespace saltus {
namespace {

struct Format {
  const char* extension;
  void (*write)(const std::filesystem::path&, const std::string&, const Draws&);  // null: not built
  std::unique_ptr<Draws> (*open)(const std::filesystem::path&);
  bool attributes;  // it can hold those of DrawsInfo
};

// A new format is a line here.
constexpr Format kFormats[] = {
    {".npz", write_npz_draws, open_npz_draws, true},
#ifdef SALTUS_HAVE_NETCDF
    {".nc", write_netcdf_draws, open_netcdf_draws, true},
#else
    {".nc", nullptr, nullptr, false},
#endif
    {".csv", write_csv_draws, open_csv_draws, false},
};

// ".npz, .nc or .csv"
std::string extensions() {
  std::vector<std::string> list;
  for (const Format& f : kFormats) {
    if (f.write) list.push_back(f.extension);
  }
  const std::string last = list.back();
  list.pop_back();
  return fmt::format("{} or {}", fmt::join(list, ", "), last);
}

const Format* format_of(const std::filesystem::path& path) {
  const std::string extension = lower_cased(path.extension().string());
  const Format* found = std::ranges::find(kFormats, extension, &Format::extension);
  return found == std::end(kFormats) ? nullptr : found;
}

// Why this build has no use for a file of that name; empty when it has one.
std::string objection(const std::filesystem::path& path) {
  const Format* format = format_of(path);
  if (format && format->write) return "";
  if (format) return "this saltus was built without netCDF, so use " + extensions();
  if (path.extension().empty()) {
    return "its name has no extension to tell the format; use " + extensions();
  }
  return fmt::format("no format for draws has the extension '{}'; use {}",
                     path.extension().string(), extensions());
}

}  // namespace

bool can_write_draws(const std::filesystem::path& path, std::string* why) {
  const std::string reason = objection(path);
  if (!reason.empty() && why != nullptr) {
    *why = fmt::format("cannot write '{}': {}.", path.string(), reason);
  }
  return reason.empty();
}

bool keeps_warnings(const std::filesystem::path& path) {
  const Format* format = format_of(path);
  return format && format->attributes;
}

void write_draws(const std::filesystem::path& path, const Draws& draws) {
  if (std::string why; !can_write_draws(path, &why)) throw FileError(why, true);
  NewFile file(path);
  format_of(path)->write(file.path(), path.string(), draws);
  file.keep();
}

std::unique_ptr<Draws> open_draws(const std::filesystem::path& path) {
  if (const std::string why = objection(path); !why.empty()) {
    throw FileError(fmt::format("cannot open '{}': {}.", path.string(), why), false);
  }
  return format_of(path)->open(path);
}

}  // namespace saltus
