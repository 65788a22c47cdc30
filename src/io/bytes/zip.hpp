// As much of the ZIP format as .npz files need: members that are stored or deflated, and ZIP64 for
// what does not fit in 4 GiB.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "io/bytes/byte_file.hpp"

// Numbers of the format.
namespace saltus::zip {

constexpr std::uint32_t kLocalHeader = 0x04034b50, kDirectoryEntry = 0x02014b50,
                        kDirectoryEnd = 0x06054b50, kZip64DirectoryEnd = 0x06064b50,
                        kZip64Locator = 0x07064b50, kZip64Extra = 0x0001;
constexpr std::size_t kLocalHeaderBytes = 30, kDirectoryEntryBytes = 46, kDirectoryEndBytes = 22,
                      kZip64DirectoryEndBytes = 56, kZip64LocatorBytes = 20, kLocalCrcAt = 14;

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

namespace saltus {

struct ZipMember {
  std::string name;
  std::uint32_t crc = 0;
  std::uint64_t compressed = 0, size = 0, offset = 0;  // offset: of the member's own header
  unsigned method = 0, flags = 0;
};

// Writes members one after the other, uncompressed, so that their parts can be read in place.
class ZipWriter {
 public:
  static constexpr std::uint64_t kZip64From = 0xffffffff;

  // Sizes and offsets from `zip64_from` on are written in their 64-bit form; tests lower it.
  explicit ZipWriter(OutputFile& out, std::uint64_t zip64_from = kZip64From)
      : out_(out), zip64_from_(zip64_from) {}

  void begin(const std::string& name, std::uint64_t size);
  void append(const void* data, std::size_t bytes);
  void append(const std::string& text) { append(text.data(), text.size()); }
  void end();
  void finish();  // the directory; the file is not closed

 private:
  void write_end_of_directory(std::uint64_t start, std::uint64_t size);

  OutputFile& out_;
  std::uint64_t zip64_from_;
  std::vector<ZipMember> members_;
  std::uint64_t written_ = 0;  // of the current member
};

class ZipReader {
 public:
  // Reads the directory. Throws DataError when there is none or it is damaged.
  explicit ZipReader(std::shared_ptr<const InputFile> file);

  const std::vector<ZipMember>& members() const { return members_; }
  bool has(const std::string& name) const { return find(name) != nullptr; }
  // The bytes of a member, which must be there. All of it is read once to check its sum; a deflated
  // member is inflated to a file that disappears with the last use of the result. Throws DataError.
  FileRange open(const std::string& name) const;

 private:
  const ZipMember* find(const std::string& name) const;
  FileRange packed(const ZipMember& member) const;

  std::shared_ptr<const InputFile> file_;
  std::uint64_t directory_at_ = 0;
  std::vector<ZipMember> members_;
};

}  // namespace saltus
