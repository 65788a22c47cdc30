#include "reproduce/data/mat_images.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "reproduce/data/mat_file.hpp"
#include "saltus/core/error.hpp"

namespace saltus {
namespace {

[[noreturn]] void refuse(const FileRange& file, const std::string& array, const std::string& why) {
  throw DataError(
      fmt::format("'{}' cannot be used: its array '{}' {}.", file.file->name(), array, why));
}

}  // namespace

ByteRows read_mat_images(const FileRange& file, const std::string& array,
                         const MatImageLayout& layout) {
  const MatArray numbers = read_mat_array(file, array);
  const auto count = static_cast<std::size_t>(layout.count);
  const auto side = static_cast<std::size_t>(layout.side), pixels = side * side;
  const bool rows = layout.images == MatImages::rows;
  const std::vector<std::uint64_t> expected = {rows ? count : pixels, rows ? pixels : count};
  if (numbers.dims != expected) {
    refuse(file, array,
           fmt::format("is of shape ({}) where ({}) is published", fmt::join(numbers.dims, ", "),
                       fmt::join(expected, ", ")));
  }
  ByteRows images{static_cast<int>(pixels), std::vector<std::uint8_t>(count * pixels)};
  for (std::size_t n = 0; n < count; ++n) {
    for (std::size_t p = 0; p < pixels; ++p) {
      const double number = numbers.values[rows ? p * count + n : n * pixels + p];
      const int byte = layout.byte(number);
      if (byte < 0) refuse(file, array, fmt::format("holds {} in image {}", number, n));
      // Number p of an image is in its column p / side.
      images.bytes[n * pixels + p % side * side + p / side] = static_cast<std::uint8_t>(byte);
    }
  }
  return images;
}

}  // namespace saltus
