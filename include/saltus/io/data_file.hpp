// Data sets to learn from: rows of 0 and 1. Formats: .npy and .npz (NumPy), .csv, .amat (0 and 1
// separated by blanks), IDX (*-ubyte, the format of MNIST); each of them also packed by gzip.
// docs/formats.md describes them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "saltus/core/rows.hpp"

namespace saltus {

struct DataSet {
  RowBuffer<Symbol> rows;  // all 0 or 1
  std::vector<int> shape;  // of a row: {28, 28} where the file tells, otherwise {dim}
};

// A byte of an IDX file from here on is a 1: byte / 255 > 0.5.
inline constexpr int kByteThreshold = 128;

// Throws FileError when the file cannot be read, and DataError, naming the file, the place, and
// what was expected there, when it does not hold rows of 0 and 1. `threshold` serves IDX files.
DataSet read_binary_data(const std::filesystem::path& path, int threshold = kByteThreshold);

// An IDX file of bytes as it is: images (count, height, width) or labels (count).
struct ByteData {
  std::vector<int> dims;
  std::vector<std::uint8_t> bytes;
};
ByteData read_idx(const std::filesystem::path& path);

// Rows of 0 and 1 from images: 1 where byte >= threshold. There must be at least two dims.
DataSet binarize(const ByteData& images, int threshold = kByteThreshold);

}  // namespace saltus
