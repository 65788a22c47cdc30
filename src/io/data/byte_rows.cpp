#include "io/data/byte_rows.hpp"

#include "io/data/numpy_shuffle.hpp"

namespace saltus {

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
