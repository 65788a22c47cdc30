#include "saltus/io/data_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cctype>
#include <climits>
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

// IDX: two zero bytes, the type of the entries (8: unsigned bytes), the number of dimensions, the
// dimensions as big-endian 32-bit numbers, then the entries (http://yann.lecun.com/exdb/mnist/).
constexpr std::uint32_t kBytesMagic = 0x00000800;
constexpr std::uint32_t kMaxDimensions = 8;

[[noreturn]] void refuse(const FileRange& file, std::uint64_t at, const std::string& why) {
  throw DataError(fmt::format("'{}' cannot be used: at byte {}: {}.", file.file->name(), at, why));
}

std::uint32_t big_endian(const FileRange& file, std::uint64_t at) {
  std::array<unsigned char, 4> b = {};
  if (at + b.size() > file.size) {
    refuse(file, file.size, fmt::format("it ends where its header goes on to byte {}", at + 4));
  }
  file.read(at, b.data(), b.size());
  return static_cast<std::uint32_t>(b[0]) << 24 | static_cast<std::uint32_t>(b[1]) << 16 |
         static_cast<std::uint32_t>(b[2]) << 8 | b[3];
}

// The number of entries, which is at most that of the bytes left behind the header.
std::uint64_t checked_count(const FileRange& file, const std::vector<int>& dims) {
  const std::uint64_t header = 4 + 4 * dims.size(), held = file.size - header;
  std::uint64_t count = 1;
  for (const int n : dims) {
    if (__builtin_mul_overflow(count, static_cast<std::uint64_t>(n), &count)) count = UINT64_MAX;
  }
  if (count != held) {
    refuse(file, header,
           fmt::format("{} entries of a byte are expected ({}) and {} bytes are there", count,
                       fmt::join(dims, " x "), held));
  }
  return count;
}

ByteData parse_idx(const FileRange& file) {
  const std::uint32_t magic = big_endian(file, 0), dimensions = magic - kBytesMagic;
  if (magic <= kBytesMagic || dimensions > kMaxDimensions) {
    refuse(file, 0,
           fmt::format("0x{:08x} where 0x00000803 (images of bytes) or 0x00000801 (labels) is "
                       "expected",
                       magic));
  }
  ByteData data;
  for (std::uint32_t i = 0; i < dimensions; ++i) {
    const std::uint64_t at = 4 + 4 * i;
    const std::uint32_t n = big_endian(file, at);
    if (n == 0 || n > INT_MAX) {
      refuse(file, at, fmt::format("dimension {} is {}; it must be from 1 to {}", i, n, INT_MAX));
    }
    data.dims.push_back(static_cast<int>(n));
  }
  data.bytes.resize(checked_count(file, data.dims));
  file.read(4 + 4 * data.dims.size(), data.bytes.data(), data.bytes.size());
  return data;
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

DataSet binarize(const ByteData& images, int threshold) {
  assert(images.dims.size() >= 2);
  DataSet data;
  data.shape.assign(images.dims.begin() + 1, images.dims.end());
  const int count = images.dims[0];
  const std::size_t dim = images.bytes.size() / static_cast<std::size_t>(count);
  if (dim > INT_MAX / 2) throw DataError("a row has more than 2^30 entries");
  data.rows = RowBuffer<Symbol>(count, static_cast<int>(dim));
  const std::uint8_t* byte = images.bytes.data();
  for (int r = 0; r < count; ++r) {
    Symbol* row = data.rows.view()[r];
    for (std::size_t i = 0; i < dim; ++i) row[i] = *byte++ >= threshold;
  }
  return data;
}

}  // namespace saltus
