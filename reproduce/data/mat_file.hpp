// Arrays of numbers in MATLAB's files, version 5 (MATLAB 5 to 7, and what Octave and SciPy write):
// "MAT-File Format", The MathWorks. Little-endian; the arrays may be packed. Version 7.3, which is
// HDF5, is refused.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/bytes/byte_file.hpp"

namespace saltus {

struct MatArray {
  std::vector<std::uint64_t> dims;  // two or more
  std::vector<double> values;       // the first dimension runs fastest
};

// Throws DataError, naming the file, the byte and what was expected, when there is no array of that
// name, it does not hold real numbers, or the file is damaged.
MatArray read_mat_array(const FileRange& file, const std::string& name);

}  // namespace saltus
