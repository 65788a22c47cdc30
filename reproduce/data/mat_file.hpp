// Arrays of numbers, and images in them, in MATLAB's files, version 5 (MATLAB 5 to 7, and what
// Octave and SciPy write): "MAT-File Format", The MathWorks. Little-endian; the arrays may be
// packed. Version 7.3, which is HDF5, is refused.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "io/bytes/byte_file.hpp"
#include "saltus/io/image_set.hpp"

namespace saltus {

struct MatArray {
  std::vector<std::uint64_t> dims;  // two or more
  std::vector<double> values;       // the first dimension runs fastest
};

// Throws DataError, naming the file, the byte and what was expected, when there is no array of that
// name, it does not hold real numbers, or the file is damaged.
MatArray read_mat_array(const FileRange& file, const std::string& name);

// Where the array has its images.
enum class MatImages { rows, columns };

// The images of side x side pixels in an array, which MATLAB stores column by column, row by row.
// `byte` gives the byte that stands for a number, or a negative one when the number does not fit.
// Throws DataError when the array is not count x side^2 (or that transposed), or a number does not
// fit.
struct MatImageLayout {
  MatImages images = MatImages::rows;
  int count = 0, side = 28;
  std::function<int(double)> byte;
};
ByteRows read_mat_images(const FileRange& file, const std::string& array,
                         const MatImageLayout& layout);

}  // namespace saltus
