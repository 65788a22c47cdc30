// Bytes to read at any offset, of a file or in memory: what readers of foreign formats take.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>

#include "io/bytes/byte_file.hpp"

namespace saltus {

// The bytes of a file, or of the same in memory.
struct ByteSource {
  std::string name;  // for messages
  std::uint64_t size = 0;
  std::function<void(std::uint64_t at, void* out, std::size_t bytes)> read;  // throws DataError
};
ByteSource file_bytes(const std::filesystem::path& path);  // throws FileError
ByteSource range_bytes(FileRange range, std::string name);
ByteSource memory_bytes(std::span<const std::byte> bytes, std::string name);

// All of them. Throws DataError when they are more than `longest`.
std::string text_of(const ByteSource& source, std::uint64_t longest);

}  // namespace saltus
