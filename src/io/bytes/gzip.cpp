#include "io/bytes/gzip.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <new>
#include <span>
#include <vector>

#include "saltus/core/error.hpp"

namespace saltus {
namespace {

constexpr std::uint64_t kPackedBlock = std::uint64_t{1} << 18;
constexpr std::array<unsigned char, 2> kGzipMagic = {0x1f, 0x8b};
// Deflate packs at most 1032 bytes into one.
constexpr std::uint64_t kMaxRatio = 1032;
// Window sizes that tell zlib of a gzip header and trailer, and of a bare stream as ZIP has it.
constexpr int kGzipStream = 16 + MAX_WBITS, kBareStream = -MAX_WBITS;

[[noreturn]] void damaged(const FileRange& range, const std::string& name) {
  throw DataError(
      fmt::format("'{}' is damaged: the content of its member '{}' does not match its checksum.",
                  range.file->name(), name));
}

// Refuses what could only be meant to fill a disk: more than a gibibyte, and more than a hundred
// times the packed size.
void check_unpacked(const FileRange& packed, std::uint64_t unpacked) {
  constexpr std::uint64_t kAlways = std::uint64_t{1} << 30, kTimes = 100;
  if (unpacked <= kAlways || unpacked / kTimes <= packed.size) return;
  throw DataError(fmt::format(
      "'{}' unpacks to more than 1 GiB and {} times its size; if that is meant, unpack it first.",
      packed.file->name(), kTimes));
}

class Inflater {
 public:
  Inflater(const FileRange& packed, int window)
      : packed_(packed), block_(kPackedBlock), plain_(kPackedBlock) {
    if (::inflateInit2(&stream_, window) != Z_OK) throw std::bad_alloc();
  }
  ~Inflater() { ::inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  // Unpacks some bytes, which are in plain() then, and returns what zlib answers. It makes no
  // progress where the packed bytes end before their stream does: that is Z_BUF_ERROR.
  int next() {
    feed();
    stream_.next_out = plain_.data();
    stream_.avail_out = static_cast<uInt>(plain_.size());
    return ::inflate(&stream_, Z_NO_FLUSH);
  }
  std::span<const unsigned char> plain() const {
    return std::span(plain_).first(plain_.size() - stream_.avail_out);
  }

  // Begins another stream of a gzip file behind the last one; false at the end of the file.
  bool next_member() {
    feed();
    if (stream_.avail_in > 0 && *stream_.next_in != kGzipMagic[0]) {
      refuse("the packed content has ended and other bytes follow");
    }
    ::inflateReset(&stream_);
    return stream_.avail_in > 0;
  }
  // Throws DataError unless `state` is an answer to sound bytes of a gzip file.
  void check(int state) const {
    if (state == Z_BUF_ERROR) refuse("it ends too early");
    if (state == Z_OK || state == Z_STREAM_END) return;
    refuse(complaint());
  }
  std::string complaint() const {
    return fmt::format("zlib finds '{}'", stream_.msg ? stream_.msg : "an error");
  }

 private:
  void feed() {
    if (stream_.avail_in > 0) return;
    const auto n = static_cast<std::size_t>(std::min(kPackedBlock, packed_.size - read_));
    packed_.read(read_, block_.data(), n);
    read_ += n;
    stream_.next_in = block_.data();
    stream_.avail_in = static_cast<uInt>(n);
  }
  [[noreturn]] void refuse(const std::string& why) const {
    throw DataError(fmt::format("'{}' is not a sound gzip file: at byte {}: {}.",
                                packed_.file->name(), read_ - stream_.avail_in, why));
  }

  const FileRange& packed_;
  std::vector<unsigned char> block_, plain_;
  z_stream stream_ = {};
  std::uint64_t read_ = 0;
};

}  // namespace

FileRange open_maybe_packed(const std::filesystem::path& path) {
  const auto file = std::make_shared<const InputFile>(path);
  FileRange all{file, 0, file->size()};
  std::array<unsigned char, 2> start = {};
  if (all.size >= start.size()) all.read(0, start.data(), start.size());
  if (start != kGzipMagic) return all;
  OutputFile out = OutputFile::unnamed(path.string() + ", unpacked");
  Inflater inflater(all, kGzipStream);
  do {
    for (int state = Z_OK; state != Z_STREAM_END;) {
      state = inflater.next();
      out.append(inflater.plain().data(), inflater.plain().size());
      check_unpacked(all, out.position());
      inflater.check(state);
    }
  } while (inflater.next_member());
  return out.reopen();
}

std::string read_text(const std::filesystem::path& path, std::uint64_t longest) {
  const FileRange file = open_maybe_packed(path);
  if (file.size > longest) {
    throw DataError(path.string() + ": it is too long for what it should be");
  }
  std::string text(file.size, '\0');
  file.read(0, text.data(), text.size());
  return text;
}

void check_sum(const FileRange& bytes, std::uint32_t crc, const std::string& name) {
  std::vector<unsigned char> block(kPackedBlock);
  uLong sum = 0;
  for (std::uint64_t at = 0; at < bytes.size; at += block.size()) {
    block.resize(std::min(kPackedBlock, bytes.size - at));
    bytes.read(at, block.data(), block.size());
    sum = ::crc32_z(sum, block.data(), block.size());
  }
  if (sum != crc) damaged(bytes, name);
}

FileRange inflate_to_file(const FileRange& packed, std::uint64_t size, std::uint32_t crc,
                          const std::string& name) {
  if (size / kMaxRatio > packed.size) damaged(packed, name);
  check_unpacked(packed, size);
  OutputFile out = OutputFile::unnamed(packed.file->name());
  Inflater inflater(packed, kBareStream);
  uLong sum = 0;
  for (int state = Z_OK; state != Z_STREAM_END;) {
    state = inflater.next();
    const std::span<const unsigned char> plain = inflater.plain();
    const bool sound = state == Z_OK || state == Z_STREAM_END;
    if (!sound || plain.size() > size - out.position()) damaged(packed, name);
    sum = ::crc32_z(sum, plain.data(), plain.size());
    out.append(plain.data(), plain.size());
  }
  if (out.position() != size || sum != crc) damaged(packed, name);
  return out.reopen();
}

FileRange inflate_zlib(const FileRange& packed) {
  OutputFile out = OutputFile::unnamed(packed.file->name());
  Inflater inflater(packed, MAX_WBITS);
  for (int state = Z_OK; state != Z_STREAM_END;) {
    state = inflater.next();
    out.append(inflater.plain().data(), inflater.plain().size());
    check_unpacked(packed, out.position());
    if (state == Z_OK || state == Z_STREAM_END) continue;
    throw DataError(fmt::format(
        "'{}' cannot be used: at byte {} of what is packed at byte {}: {}.", packed.file->name(),
        out.position(), packed.offset,
        state == Z_BUF_ERROR ? "the packed bytes end too early" : inflater.complaint()));
  }
  return out.reopen();
}

}  // namespace saltus
