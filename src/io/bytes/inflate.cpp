#include "io/bytes/inflate.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <vector>

#include "saltus/core/error.hpp"

namespace saltus {
namespace {

constexpr std::size_t kInflateBlock = std::size_t{1} << 18;
// Deflate packs at most 1032 bytes into one.
constexpr std::uint64_t kMaxRatio = 1032;

[[noreturn]] void damaged(const FileRange& range, const std::string& name) {
  throw DataError(
      fmt::format("'{}' is damaged: the content of its member '{}' does not match its checksum.",
                  range.file->name(), name));
}

class Inflater {
 public:
  Inflater() {
    // Minus: ZIP members are bare deflate streams without zlib's header.
    if (::inflateInit2(&stream_, -MAX_WBITS) != Z_OK) throw std::bad_alloc();
  }
  ~Inflater() { ::inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  z_stream& stream() { return stream_; }

 private:
  z_stream stream_ = {};
};

// Gives the next block of packed bytes to zlib.
std::uint64_t feed(z_stream& stream, const FileRange& packed, std::uint64_t at,
                   std::vector<unsigned char>& block) {
  const std::size_t n =
      static_cast<std::size_t>(std::min<std::uint64_t>(kInflateBlock, packed.size - at));
  packed.read(at, block.data(), n);
  stream.next_in = block.data();
  stream.avail_in = static_cast<uInt>(n);
  return at + n;
}

}  // namespace

void check_sum(const FileRange& bytes, std::uint32_t crc, const std::string& name) {
  std::vector<unsigned char> block(kInflateBlock);
  uLong sum = 0;
  for (std::uint64_t at = 0; at < bytes.size;) {
    const std::size_t n =
        static_cast<std::size_t>(std::min<std::uint64_t>(kInflateBlock, bytes.size - at));
    bytes.read(at, block.data(), n);
    sum = ::crc32_z(sum, block.data(), n);
    at += n;
  }
  if (sum != crc) damaged(bytes, name);
}

void check_unpacked(const std::string& name, std::uint64_t packed, std::uint64_t unpacked) {
  constexpr std::uint64_t kAlways = std::uint64_t{1} << 30, kTimes = 100;
  if (unpacked <= kAlways || unpacked / kTimes <= packed) return;
  throw DataError(fmt::format(
      "'{}' unpacks to more than 1 GiB and {} times its size; if that is meant, unpack it first.",
      name, kTimes));
}

FileRange inflate_to_file(const FileRange& packed, std::uint64_t size, std::uint32_t crc,
                          const std::string& name) {
  if (size / kMaxRatio > packed.size) damaged(packed, name);
  check_unpacked(packed.file->name(), packed.size, size);
  OutputFile out = OutputFile::unnamed(packed.file->name());
  Inflater inflater;
  z_stream& stream = inflater.stream();
  std::vector<unsigned char> in(kInflateBlock), plain(kInflateBlock);
  std::uint64_t at = 0;
  uLong sum = 0;
  int state = Z_OK;
  while (state != Z_STREAM_END) {
    if (stream.avail_in == 0 && at < packed.size) at = feed(stream, packed, at, in);
    stream.next_out = plain.data();
    stream.avail_out = static_cast<uInt>(plain.size());
    state = ::inflate(&stream, Z_NO_FLUSH);
    // Among the errors: no progress, because the packed bytes end before their stream does.
    if (state != Z_OK && state != Z_STREAM_END) damaged(packed, name);
    const std::size_t n = plain.size() - stream.avail_out;
    if (n > size - out.position()) damaged(packed, name);
    sum = ::crc32_z(sum, plain.data(), n);
    out.append(plain.data(), n);
  }
  if (out.position() != size || sum != crc) damaged(packed, name);
  return out.reopen();
}

}  // namespace saltus
