// The formats behind read_binary_data. All throw DataError.
#pragma once

#include "io/bytes/byte_file.hpp"
#include "saltus/io/data_file.hpp"

namespace saltus {

ByteData parse_idx(const FileRange& file);

DataSet parse_npy_data(const FileRange& file);
// The array named x or data, or the only one.
DataSet parse_npz_data(const FileRange& file);

enum class Separator { blanks, comma };
// With commas, a first line without any number holds names.
DataSet parse_text_data(const FileRange& file, Separator separator);

}  // namespace saltus
