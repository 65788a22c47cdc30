// The lines of a text file, in order, with a number for messages.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "io/bytes/byte_file.hpp"

namespace saltus {

class LineReader {
 public:
  explicit LineReader(const InputFile& file) : file_(file) {}

  // The next line without its end, valid until the next call; false at the end of the file. Throws
  // DataError when the last line has no end, as in a file that was cut off.
  bool next(std::string_view& line);
  // Throws DataError with the file, the number of the current line and `why`, part of a sentence.
  [[noreturn]] void refuse(const std::string& why) const;

 private:
  bool fill();

  const InputFile& file_;
  std::string buffer_;
  std::size_t at_ = 0;      // of the next line in buffer_
  std::uint64_t read_ = 0;  // bytes of the file that have been in buffer_
  std::uint64_t number_ = 0;
};

}  // namespace saltus
