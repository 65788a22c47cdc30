#include "saltus/io/data_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>

#include "io/bytes/gzip.hpp"
#include "io/bytes/words.hpp"
#include "io/data/data_formats.hpp"
#include "saltus/core/error.hpp"

namespace saltus {
namespace {

// A format is known by how the names of its files end.
constexpr std::string_view kNpy = ".npy", kNpz = ".npz", kIdx = "-ubyte", kCsv = ".csv",
                           kAmat = ".amat", kUnknown = "";

// By name, without a last .gz.
std::string_view format_of_name(const std::filesystem::path& path) {
  std::string name = lower_cased(path.filename().string());
  if (name.ends_with(".gz")) name.resize(name.size() - 3);
  for (const std::string_view format : {kNpy, kNpz, kIdx, kCsv, kAmat}) {
    if (name.ends_with(format)) return format;
  }
  return kUnknown;
}

std::string_view format_of_content(const FileRange& file) {
  std::string start(std::min<std::uint64_t>(file.size, 4096), '\0');
  file.read(0, start.data(), start.size());
  if (start.starts_with("\x93NUMPY")) return kNpy;
  if (start.starts_with("PK\3\4")) return kNpz;
  if (start.starts_with(std::string("\0\0\x08", 3))) return kIdx;
  const std::string line = start.substr(0, start.find('\n'));
  const bool text = std::all_of(line.begin(), line.end(), [](unsigned char c) {
    return std::isprint(c) || c == '\t' || c == '\r';
  });
  if (line.empty() || !text) return kUnknown;
  return line.find(',') == std::string::npos ? kAmat : kCsv;
}

DataSet read_images(const FileRange& file, int threshold) {
  const ByteData images = parse_idx(file);
  if (images.dims.size() >= 2) return binarize(images, threshold);
  throw DataError(
      fmt::format("'{}' cannot be used: at byte 3: it has one dimension, as labels have, where "
                  "images have two or three.",
                  file.file->name()));
}

}  // namespace

DataSet read_binary_data(const std::filesystem::path& path, int threshold) {
  const FileRange file = open_maybe_packed(path);
  std::string_view format = format_of_name(path);
  if (format == kUnknown) format = format_of_content(file);
  if (format == kNpy) return parse_npy_data(file);
  if (format == kNpz) return parse_npz_data(file);
  if (format == kIdx) return read_images(file, threshold);
  if (format == kCsv) return parse_text_data(file, Separator::comma);
  if (format == kAmat) return parse_text_data(file, Separator::blanks);
  throw DataError(
      fmt::format("'{}' cannot be used: it does not begin as data in one of the known formats do "
                  "(.npy, .npz, .csv, .amat, IDX).",
                  file.file->name()));
}

ByteData read_idx(const std::filesystem::path& path) {
  return parse_idx(open_maybe_packed(path));
}

}  // namespace saltus
