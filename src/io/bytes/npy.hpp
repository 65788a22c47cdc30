// Arrays as NumPy saves them (.npy, format 1.0 and 2.0): little-endian numbers in C order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "io/bytes/zip.hpp"
#include "saltus/core/rows.hpp"

namespace saltus {

enum class NpyType { u1, u2, u4, u8, i1, i2, i4, i8, f4, f8 };

std::size_t item_size(NpyType type);
bool is_integer(NpyType type);
// The bytes of an array, or nothing when 64 bits do not hold their number.
std::optional<std::uint64_t> byte_count(std::span<const std::uint64_t> shape, std::uint64_t item);

// All that stands before the numbers of an array; a shape without entries is a single number.
std::string npy_header(NpyType type, std::span<const std::uint64_t> shape);

// An array in a file, of which parts are read at a time.
struct NpyArray {
  std::string name;  // for messages
  NpyType type = NpyType::u1;
  std::vector<std::uint64_t> shape;
  FileRange data;  // the numbers

  std::uint64_t count() const;
  // Entries [first, first + out.size()). Throws DataError for an entry that a Symbol cannot hold.
  // T is Symbol, float or double.
  template <class T>
  void read(std::uint64_t first, std::span<T> out) const;

  // Throws DataError: "'FILE' cannot be used: its array 'NAME' WHY."
  [[noreturn]] void refuse(const std::string& why) const;
};

// Reads the header of the array in `file` and checks that the numbers it promises are there. Throws
// DataError.
NpyArray parse_npy(const FileRange& file, const std::string& name);

// Begins the member NAME.npy of a .npz file; the numbers are to be appended, then the member ended.
void begin_npy(ZipWriter& zip, const std::string& name, NpyType type,
               std::span<const std::uint64_t> shape);
// The whole of it.
void add_npy(ZipWriter& zip, const std::string& name, NpyType type,
             const std::vector<std::uint64_t>& shape, std::span<const std::byte> numbers);

}  // namespace saltus
