#include "saltus/io/data_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string>

#include "io/bytes/gzip.hpp"
#include "io/data/data_formats.hpp"
#include "saltus/core/error.hpp"

namespace saltus {
namespace {

enum class Format { npy, npz, idx, csv, amat, unknown };

// By name, without a last .gz.
Format format_of_name(const std::filesystem::path& path) {
  std::string name = path.filename().string();
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (name.ends_with(".gz")) name.resize(name.size() - 3);
  if (name.ends_with(".npy")) return Format::npy;
  if (name.ends_with(".npz")) return Format::npz;
  if (name.ends_with("-ubyte")) return Format::idx;
  if (name.ends_with(".csv")) return Format::csv;
  if (name.ends_with(".amat")) return Format::amat;
  return Format::unknown;
}

Format format_of_content(const FileRange& file) {
  std::string start(std::min<std::uint64_t>(file.size, 4096), '\0');
  file.read(0, start.data(), start.size());
  if (start.starts_with("\x93NUMPY")) return Format::npy;
  if (start.starts_with("PK\3\4")) return Format::npz;
  if (start.starts_with(std::string("\0\0\x08", 3))) return Format::idx;
  const std::string line = start.substr(0, start.find('\n'));
  const bool text = std::all_of(line.begin(), line.end(), [](unsigned char c) {
    return std::isprint(c) || c == '\t' || c == '\r';
  });
  if (line.empty() || !text) return Format::unknown;
  return line.find(',') == std::string::npos ? Format::amat : Format::csv;
}

}  // namespace

DataSet read_binary_data(const std::filesystem::path& path, int threshold) {
  const FileRange file = open_maybe_packed(path);
  Format format = format_of_name(path);
  if (format == Format::unknown) format = format_of_content(file);
  switch (format) {
    case Format::npy:
      return parse_npy_data(file);
    case Format::npz:
      return parse_npz_data(file);
    case Format::idx: {
      const ByteData images = parse_idx(file);
      if (images.dims.size() < 2) {
        throw DataError(fmt::format(
            "'{}' cannot be used: at byte 3: it has one dimension, as labels have, where images "
            "have two or three.",
            file.file->name()));
      }
      return binarize(images, threshold);
    }
    case Format::csv:
      return parse_text_data(file, Separator::comma);
    case Format::amat:
      return parse_text_data(file, Separator::blanks);
    case Format::unknown:
      break;
  }
  throw DataError(
      fmt::format("'{}' cannot be used: it does not begin as data in one of the known formats do "
                  "(.npy, .npz, .csv, .amat, IDX).",
                  file.file->name()));
}

ByteData read_idx(const std::filesystem::path& path) {
  return parse_idx(open_maybe_packed(path));
}

}  // namespace saltus
