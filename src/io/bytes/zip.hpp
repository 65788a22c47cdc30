// As much of the ZIP format as .npz files need: members that are stored or deflated, and ZIP64 for
// what does not fit in 4 GiB.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "io/bytes/byte_file.hpp"

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
