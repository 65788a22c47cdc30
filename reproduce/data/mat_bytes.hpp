// The bytes of one element of a MATLAB file, in order, unpacked on the way where they are packed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "io/bytes/byte_file.hpp"

namespace saltus {

class MatBytes {
 public:
  // `range` holds the element; zlib has packed it or not.
  MatBytes(const FileRange& range, bool packed);
  ~MatBytes();
  MatBytes(const MatBytes&) = delete;
  MatBytes& operator=(const MatBytes&) = delete;

  // Throws DataError when the bytes end before.
  void read(void* out, std::size_t bytes);
  void skip(std::size_t bytes);
  // Reads to the end of packed bytes, so that zlib checks their sum. Throws DataError.
  void finish();
  std::uint64_t position() const { return position_; }  // of the next byte
  // No more than so many are left.
  std::uint64_t most_left() const;

  // Throws DataError with the file, the place of the last byte read, and `why`.
  [[noreturn]] void refuse(const std::string& why) const;

 private:
  struct Unpacker;
  void unpack(unsigned char* out, std::size_t bytes);
  void feed();
  void note(int state);

  FileRange range_;
  std::uint64_t position_ = 0;
  std::unique_ptr<Unpacker> unpacker_;
};

}  // namespace saltus
