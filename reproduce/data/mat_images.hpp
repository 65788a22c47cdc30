// Images in arrays of MATLAB, which stores them column by column.
#pragma once

#include <functional>
#include <string>

#include "io/bytes/byte_file.hpp"
#include "reproduce/data/image_sets.hpp"

namespace saltus {

// Where the array has its images.
enum class MatImages { rows, columns };

// The images of side x side pixels in an array, row by row. `byte` gives the byte that stands for a
// number, or a negative one when the number does not fit. Throws DataError when the array is not
// count x side^2 (or that transposed), or a number does not fit.
struct MatImageLayout {
  MatImages images = MatImages::rows;
  int count = 0, side = 28;
  std::function<int(double)> byte;
};
ByteRows read_mat_images(const FileRange& file, const std::string& array,
                         const MatImageLayout& layout);

}  // namespace saltus
