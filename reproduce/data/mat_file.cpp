#include "reproduce/data/mat_file.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "io/bytes/gzip.hpp"
#include "saltus/core/error.hpp"

namespace saltus {
namespace {

constexpr std::uint64_t kHeaderBytes = 128;
constexpr std::size_t kVersionAt = 124, kTagBytes = 8;
constexpr std::uint32_t kInt8 = 1, kInt32 = 5, kUint32 = 6, kMatrix = 14, kPacked = 15;
// The classes of arrays of numbers are double, single, and integers of 8 to 64 bits.
constexpr std::uint32_t kFirstNumeric = 6, kLastNumeric = 15, kOpaque = 17, kComplexFlag = 0x800;
constexpr std::uint32_t kMostDims = 32, kLongestName = 4096;

// The bytes of one element of a file, in order.
class MatBytes {
 public:
  // `packed_at` is where they were packed in the file, if they were.
  explicit MatBytes(const FileRange& range, std::optional<std::uint64_t> packed_at = std::nullopt)
      : range_(range), packed_at_(packed_at) {}

  // Throws DataError when the bytes end before.
  void read(void* out, std::size_t bytes) {
    if (bytes > left()) refuse(packed_at_ ? "the packed bytes end too early" : "it ends too early");
    range_.read(position_, out, bytes);
    position_ += bytes;
  }
  void skip(std::uint64_t bytes) { position_ += std::min(bytes, left()); }
  std::uint64_t left() const { return range_.size - position_; }

  // Throws DataError when bytes are left of what was packed.
  void finish() const {
    if (packed_at_ && left() > 0) refuse("more bytes are packed than the array has");
  }

  // Throws DataError with the file, the place of the last byte read, and `why`.
  [[noreturn]] void refuse(const std::string& why) const {
    const std::string place =
        packed_at_ ? fmt::format("at byte {} of what is packed at byte {}", position_, *packed_at_)
                   : fmt::format("at byte {}", range_.offset + position_);
    throw DataError(fmt::format("'{}' cannot be used: {}: {}.", range_.file->name(), place, why));
  }

 private:
  FileRange range_;
  std::optional<std::uint64_t> packed_at_;
  std::uint64_t position_ = 0;
};

[[noreturn]] void refuse(const FileRange& file, std::uint64_t at, const std::string& why) {
  throw DataError(fmt::format("'{}' cannot be used: at byte {}: {}.", file.file->name(), at, why));
}

void check_header(const FileRange& file) {
  std::array<char, kHeaderBytes> header = {};
  file.read(0, header.data(), std::min<std::uint64_t>(file.size, header.size()));
  const std::string_view text(header.data(), header.size());
  if (text.starts_with("\x89HDF") || text.starts_with("MATLAB 7.3")) {
    refuse(file, 0,
           "it is a MATLAB file of version 7.3 (HDF5), where version 5 is expected (save it with "
           "-v7)");
  }
  if (file.size < header.size()) {
    refuse(file, file.size, "it ends in the header of 128 bytes that MATLAB files have");
  }
  const std::string_view order = text.substr(kVersionAt + 2, 2);
  if (order == "MI") refuse(file, kVersionAt + 2, "its numbers are big-endian");
  if (order != "IM" || text.substr(kVersionAt, 2) != std::string_view("\0\1", 2)) {
    refuse(file, kVersionAt, "the mark of a MATLAB file of version 5 is expected");
  }
}

// What begins a part of an element. A part of four bytes or less may lie in the tag itself.
struct Tag {
  std::uint32_t type = 0, size = 0;
  std::optional<std::array<unsigned char, 4>> inside;
};

Tag read_tag(MatBytes& in) {
  std::array<std::uint32_t, 2> words;
  in.read(words.data(), kTagBytes);
  const std::uint32_t small = words[0] >> 16;
  if (small == 0) return {words[0], words[1], std::nullopt};
  if (small > 4) in.refuse(fmt::format("a tag holds {} bytes where 4 or less fit", small));
  Tag tag = {words[0] & 0xffff, small, std::array<unsigned char, 4>{}};
  std::memcpy(tag.inside->data(), &words[1], 4);
  return tag;
}

// The bytes of a part, and behind them those that fill it up to a multiple of eight.
void read_part(MatBytes& in, const Tag& tag, void* out) {
  if (tag.inside) {
    std::memcpy(out, tag.inside->data(), tag.size);
    return;
  }
  in.read(out, tag.size);
  in.skip((kTagBytes - tag.size % kTagBytes) % kTagBytes);  // the last part may go without
}

Tag expect_part(MatBytes& in, std::uint32_t type, std::uint32_t most, const char* what) {
  const Tag tag = read_tag(in);
  if (tag.type != type || tag.size > most) {
    in.refuse(fmt::format(
        "{} (type {}, at most {} bytes) are expected and type {} with {} bytes is there", what,
        type, most, tag.type, tag.size));
  }
  return tag;
}

struct MatrixHead {
  std::uint32_t flags = 0;
  std::vector<std::uint64_t> dims;
  std::string name;
  std::uint32_t kind() const { return flags & 0xff; }
};

MatrixHead read_head(MatBytes& in) {
  MatrixHead head;
  std::array<std::uint32_t, 2> flags = {};
  read_part(in, expect_part(in, kUint32, 8, "the flags of an array"), flags.data());
  head.flags = flags[0];
  if (head.kind() == kOpaque) return head;  // an object: it has no dimensions
  const Tag dims = expect_part(in, kInt32, 4 * kMostDims, "the dimensions of an array");
  std::array<std::int32_t, kMostDims> sizes = {};
  read_part(in, dims, sizes.data());
  for (std::uint32_t i = 0; i < dims.size / 4; ++i) {
    if (sizes[i] < 0) in.refuse(fmt::format("dimension {} is {}", i, sizes[i]));
    head.dims.push_back(static_cast<std::uint64_t>(sizes[i]));
  }
  if (head.dims.size() < 2) in.refuse("an array has less than two dimensions");
  const Tag name = expect_part(in, kInt8, kLongestName, "the name of an array");
  head.name.resize(name.size);
  read_part(in, name, head.name.data());
  return head;
}

template <class T>
std::vector<double> read_as(MatBytes& in, const Tag& tag) {
  if (tag.size % sizeof(T) != 0) {
    in.refuse(
        fmt::format("{} bytes hold no whole number of entries of {} bytes", tag.size, sizeof(T)));
  }
  std::vector<T> numbers(tag.size / sizeof(T));
  read_part(in, tag, numbers.data());
  return {numbers.begin(), numbers.end()};
}

std::vector<double> read_numbers(MatBytes& in, const Tag& tag) {
  using Read = std::vector<double> (*)(MatBytes&, const Tag&);
  // By type; the gaps are types that are no numbers.
  constexpr Read readers[] = {nullptr,
                              read_as<std::int8_t>,
                              read_as<std::uint8_t>,
                              read_as<std::int16_t>,
                              read_as<std::uint16_t>,
                              read_as<std::int32_t>,
                              read_as<std::uint32_t>,
                              read_as<float>,
                              nullptr,
                              read_as<double>,
                              nullptr,
                              nullptr,
                              read_as<std::int64_t>,
                              read_as<std::uint64_t>};
  const Read read = tag.type < std::size(readers) ? readers[tag.type] : nullptr;
  if (!read) in.refuse(fmt::format("the entries are of type {}, which is no number", tag.type));
  return read(in, tag);
}

MatArray read_matrix(MatBytes& in, MatrixHead head) {
  if (head.kind() < kFirstNumeric || head.kind() > kLastNumeric) {
    in.refuse(
        fmt::format("the array '{}' is of class {}, where numbers (classes 6 to 15) are expected",
                    head.name, head.kind()));
  }
  if (head.flags & kComplexFlag) {
    in.refuse(fmt::format("the array '{}' holds complex numbers", head.name));
  }
  std::uint64_t count = 1;
  for (const std::uint64_t n : head.dims) {
    if (__builtin_mul_overflow(count, n, &count)) count = UINT64_MAX;
  }
  const Tag tag = read_tag(in);
  if (!tag.inside && tag.size > in.left()) {
    in.refuse(fmt::format("{} bytes of entries are expected and the array ends before", tag.size));
  }
  MatArray array = {std::move(head.dims), read_numbers(in, tag)};
  if (array.values.size() != count) {
    in.refuse(fmt::format("the array '{}' has {} entries where {} ({}) are expected", head.name,
                          array.values.size(), count, fmt::join(array.dims, " x ")));
  }
  in.finish();
  return array;
}

}  // namespace

MatArray read_mat_array(const FileRange& file, const std::string& name) {
  check_header(file);
  std::vector<std::string> names;
  for (std::uint64_t at = kHeaderBytes; at < file.size;) {
    MatBytes tags({file.file, file.offset + at, file.size - at});
    const Tag tag = read_tag(tags);
    const std::uint64_t held = file.size - at - kTagBytes;
    if ((tag.type != kMatrix && tag.type != kPacked) || tag.inside || tag.size > held) {
      refuse(file, at,
             fmt::format("an array (type 14 or 15, at most {} bytes) is expected and type {} with "
                         "{} bytes is there",
                         held, tag.type, tag.size));
    }
    const FileRange element = {file.file, file.offset + at + kTagBytes, tag.size};
    const bool packed = tag.type == kPacked;
    MatBytes in = packed ? MatBytes(inflate_zlib(element), element.offset) : MatBytes(element);
    if (packed) expect_part(in, kMatrix, UINT32_MAX, "an array");
    MatrixHead head = read_head(in);
    if (head.name == name) return read_matrix(in, std::move(head));
    names.push_back(head.name);
    at += kTagBytes + tag.size;
  }
  throw DataError(
      fmt::format("'{}' cannot be used: it has no array '{}'; it has {}.", file.file->name(), name,
                  names.empty() ? "none" : fmt::format("'{}'", fmt::join(names, "', '"))));
}

ByteRows read_mat_images(const FileRange& file, const std::string& array,
                         const MatImageLayout& layout) {
  const auto refuse = [&](const std::string& why) {
    throw DataError(
        fmt::format("'{}' cannot be used: its array '{}' {}.", file.file->name(), array, why));
  };
  const MatArray numbers = read_mat_array(file, array);
  const auto count = static_cast<std::size_t>(layout.count);
  const auto side = static_cast<std::size_t>(layout.side), pixels = side * side;
  const bool rows = layout.images == MatImages::rows;
  const std::vector<std::uint64_t> expected = {rows ? count : pixels, rows ? pixels : count};
  if (numbers.dims != expected) {
    refuse(fmt::format("is of shape ({}) where ({}) is published", fmt::join(numbers.dims, ", "),
                       fmt::join(expected, ", ")));
  }
  ByteRows images{static_cast<int>(pixels), std::vector<std::uint8_t>(count * pixels)};
  for (std::size_t n = 0; n < count; ++n) {
    for (std::size_t p = 0; p < pixels; ++p) {
      const double number = numbers.values[rows ? p * count + n : n * pixels + p];
      const int byte = layout.byte(number);
      if (byte < 0) refuse(fmt::format("holds {} in image {}", number, n));
      // Number p of an image is in its column p / side.
      images.bytes[n * pixels + p % side * side + p / side] = static_cast<std::uint8_t>(byte);
    }
  }
  return images;
}

}  // namespace saltus
