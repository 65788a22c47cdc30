#include "saltus/io/image_set.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>
#include <random>
#include <tuple>
#include <utility>

#include "io/data/byte_rows.hpp"
#include "saltus/core/error.hpp"
#include "saltus/core/philox.hpp"

namespace saltus {
namespace {

namespace fs = std::filesystem;

// Height and width of an image.
std::pair<int, int> image_shape(const fs::path& path, const std::vector<int>& shape) {
  if (shape.size() == 2) return {shape[0], shape[1]};
  if (shape.size() == 3 && shape[0] == 1) return {shape[1], shape[2]};  // a channel
  const int pixels = shape.size() == 1 ? shape[0] : 0;
  const int side = static_cast<int>(std::lround(std::sqrt(pixels)));
  if (pixels > 0 && side * side == pixels) return {side, side};
  throw DataError(fmt::format(
      "'{}' cannot be used: its rows are of shape ({}), where images, height x width, or "
      "a square number of pixels are expected.",
      path.string(), fmt::join(shape, ", ")));
}

// True with probability byte / 255, to within 2^-32; certain for 0 and 255.
bool draw_pixel(std::uint32_t word, std::uint8_t byte) {
  return std::uint64_t{word} * 255 < std::uint64_t{byte} << 32;
}

void draw_row(const std::uint8_t* bytes, const Stream& stream, std::span<Symbol> out) {
  for (std::size_t i = 0; i < out.size(); i += 4) {
    const PhiloxBlock words = stream.block(static_cast<std::uint32_t>(i / 4));
    const std::size_t end = std::min(i + 4, out.size());
    for (std::size_t j = i; j < end; ++j) out[j] = draw_pixel(words[j - i], bytes[j]);
  }
}

// A whole number from 0 to `last`: as many low bits of a word as `last` has, drawn again while they
// are above it.
std::uint32_t up_to(std::uint32_t last, std::mt19937& words) {
  std::uint32_t mask = last;
  for (const int shift : {1, 2, 4, 8, 16}) mask |= mask >> shift;
  while (true) {
    const auto value = static_cast<std::uint32_t>(words()) & mask;
    if (value <= last) return value;
  }
}

}  // namespace

ImageSet image_set_from_file(const fs::path& path, std::uint32_t seed) {
  const DataSet data = read_binary_data(path);
  ImageSet set;
  set.name = path.filename().string();
  std::tie(set.height, set.width) = image_shape(path, data.shape);
  const int rows = data.rows.view().rows, tenth = std::max(1, rows / 10);
  if (rows < 3) {
    throw DataError(fmt::format(
        "'{}' cannot be used: it has {} rows, and three are needed to learn, validate and test.",
        path.string(), rows));
  }
  set.train = shuffled(bytes_of(data), seed);
  set.test = split_off(set.train, tenth);
  set.valid = split_off(set.train, tenth);
  return set;
}

void binarise(const ByteRows& images, bool grey, std::span<const std::int32_t> rows,
              std::uint64_t seed, std::uint64_t draw, Rows<Symbol> out) {
  assert(out.cols == images.cols && out.rows == static_cast<int>(rows.size()));
  const Rows<const std::uint8_t> from = images.view();
  for (int k = 0; k < out.rows; ++k) {
    const std::int32_t row = rows[static_cast<std::size_t>(k)];
    if (grey) {
      // Batches use this purpose for all chains at once; a row is a chain of its own here.
      draw_row(from[row], Stream(seed, static_cast<std::uint32_t>(row), draw, Purpose::batch),
               out.row(k));
    } else {
      std::copy_n(from[row], from.cols, out[k]);
    }
  }
}

RowBuffer<Symbol> binarise(const ByteRows& images, bool grey, std::uint64_t seed,
                           std::uint64_t draw) {
  std::vector<std::int32_t> rows(static_cast<std::size_t>(images.rows()));
  std::iota(rows.begin(), rows.end(), 0);
  RowBuffer<Symbol> out(images.rows(), images.cols);
  binarise(images, grey, rows, seed, draw, out.view());
  return out;
}

std::vector<std::int32_t> numpy_permutation(std::uint32_t seed, int n) {
  std::mt19937 words(seed);  // RandomState seeds it by one number in the same way
  std::vector<std::int32_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = order.size(); i-- > 1;) {
    std::swap(order[i], order[up_to(static_cast<std::uint32_t>(i), words)]);
  }
  return order;
}

ByteRows bytes_of(const DataSet& data) {
  const Rows<Symbol> rows = data.rows.view();
  ByteRows images{rows.cols, {}};
  images.bytes.reserve(static_cast<std::size_t>(rows.rows) * static_cast<std::size_t>(rows.cols));
  for (int r = 0; r < rows.rows; ++r) {
    for (const Symbol x : rows.row(r)) images.bytes.push_back(static_cast<std::uint8_t>(x));
  }
  return images;
}

ByteRows split_off(ByteRows& images, int count) {
  const auto at = static_cast<std::ptrdiff_t>(images.rows() - count) * images.cols;
  ByteRows last{images.cols, {images.bytes.begin() + at, images.bytes.end()}};
  images.bytes.resize(static_cast<std::size_t>(at));
  return last;
}

ByteRows shuffled(const ByteRows& images, std::uint32_t seed) {
  ByteRows result{images.cols, {}};
  result.bytes.reserve(images.bytes.size());
  for (const std::int32_t row : numpy_permutation(seed, images.rows())) {
    const auto image = images.view().row(row);
    result.bytes.insert(result.bytes.end(), image.begin(), image.end());
  }
  return result;
}

}  // namespace saltus
