// Numbers of the ZIP format that its writer and its reader share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace saltus::zip {

constexpr std::uint32_t kLocalHeader = 0x04034b50;
constexpr std::uint32_t kDirectoryEntry = 0x02014b50;
constexpr std::uint32_t kDirectoryEnd = 0x06054b50;
constexpr std::uint32_t kZip64DirectoryEnd = 0x06064b50;
constexpr std::uint32_t kZip64Locator = 0x07064b50;
constexpr unsigned kZip64Extra = 0x0001;

constexpr std::size_t kLocalHeaderBytes = 30;
constexpr std::size_t kDirectoryEntryBytes = 46;
constexpr std::size_t kDirectoryEndBytes = 22;
constexpr std::size_t kZip64DirectoryEndBytes = 56;
constexpr std::size_t kZip64LocatorBytes = 20;
constexpr std::size_t kLocalCrcAt = 14;

// "Look for the 64-bit form of this number."
constexpr std::uint32_t kSee64 = 0xffffffff;
constexpr unsigned kSee64Short = 0xffff;

constexpr unsigned kStored = 0, kDeflated = 8;
constexpr unsigned kEncryptedFlag = 1;

inline void put(std::string& out, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>((value >> (8 * i)) & 0xff);
}

// The caller makes sure that at + bytes lies within `from`.
inline std::uint64_t get(const std::string& from, std::size_t at, std::size_t bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes; i-- > 0;) {
    value = value << 8 | static_cast<unsigned char>(from[at + i]);
  }
  return value;
}
inline unsigned get16(const std::string& from, std::size_t at) {
  return static_cast<unsigned>(get(from, at, 2));
}
inline std::uint32_t get32(const std::string& from, std::size_t at) {
  return static_cast<std::uint32_t>(get(from, at, 4));
}

}  // namespace saltus::zip
