// A user's own file as a set of images.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "io/data/byte_rows.hpp"
#include "saltus/core/error.hpp"
#include "saltus/io/image_set.hpp"

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

}  // namespace saltus
