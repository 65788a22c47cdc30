#include <algorithm>
#include <cassert>
#include <numeric>

#include "saltus/core/philox.hpp"
#include "saltus/io/image_set.hpp"

namespace saltus {
namespace {

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

}  // namespace

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

}  // namespace saltus
