// The formats behind read_binary_data. All throw DataError.
#pragma once

#include <optional>

#include "io/bytes/byte_file.hpp"
#include "saltus/io/data_file.hpp"

namespace saltus {

DataSet parse_npy_data(const FileRange& file);
// The array named x or data, or the only one.
DataSet parse_npz_data(const FileRange& file);

enum class Separator { blanks, comma };
// With commas, a first line without any number holds names.
DataSet parse_text_data(const FileRange& file, Separator separator);

// The two values of binary data: 0 and 1, or -1 and +1. A file has the one or the other.
class TwoValues {
 public:
  // The level that a number stands for; none when it is neither, or belongs to the other pair.
  std::optional<Symbol> level(double number) {
    if (number == 1) return Symbol{1};
    if (number != 0 && number != -1) return std::nullopt;
    if (low_ && *low_ != number) return std::nullopt;
    low_ = number;
    return Symbol{0};
  }
  // What a refusal says was expected.
  const char* expected() const { return low_ && *low_ == -1 ? "-1 or 1" : "0 or 1"; }

 private:
  std::optional<double> low_;  // the lower value, once it was seen
};

}  // namespace saltus
