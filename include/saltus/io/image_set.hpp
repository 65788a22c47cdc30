// Images of 0 and 1 to learn from, in three parts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "saltus/core/rows.hpp"

namespace saltus {

struct ByteRows {
  int cols = 0;
  std::vector<std::uint8_t> bytes;
  int rows() const {
    return cols > 0 ? static_cast<int>(bytes.size() / static_cast<std::size_t>(cols)) : 0;
  }
  Rows<const std::uint8_t> view() const { return {bytes.data(), rows(), cols, cols}; }
};

struct ImageSet {
  std::string name;
  int height = 0, width = 0;
  ByteRows train, valid, test;  // an image a row, from left to right, from top to bottom
  bool grey = false;  // a byte is 255 times the probability of a 1, drawn by binarise(); otherwise
                      // it is 0 or 1
  std::vector<std::string> notes;  // sentences that belong to every number computed from the set
};

// A file that read_binary_data() reads; grey images become 0 and 1 at the threshold. Its rows are
// shuffled; the last tenth is the test, the tenth before it the validation part. Rows without a
// shape are taken as square images. Throws also DataError when they are none, or fewer than three.
ImageSet image_set_from_file(const std::filesystem::path& path, std::uint32_t seed = 0);

// Which of the drawings from grey images. Those of batches count from 0.
inline constexpr std::uint64_t kValidDraw = (std::uint64_t{1} << 56) - 1;
inline constexpr std::uint64_t kTestDraw = kValidDraw - 1;
inline constexpr std::uint64_t kBaseDraw = kValidDraw - 2;  // of all of the rows to learn from

// Row k of `out` becomes a drawing of the row rows[k] of `images`: a pixel is 1 with probability
// byte / 255, as a function of (seed, draw, row, pixel) and nothing else. Without `grey` the bytes
// are copied.
void binarise(const ByteRows& images, bool grey, std::span<const std::int32_t> rows,
              std::uint64_t seed, std::uint64_t draw, Rows<Symbol> out);
// All rows.
RowBuffer<Symbol> binarise(const ByteRows& images, bool grey, std::uint64_t seed,
                           std::uint64_t draw);

}  // namespace saltus
