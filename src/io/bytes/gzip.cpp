#include "io/bytes/gzip.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <new>
#include <vector>

#include "io/bytes/inflate.hpp"
#include "saltus/core/error.hpp"

namespace saltus {
namespace {

constexpr std::size_t kGzipBlock = std::size_t{1} << 18;
constexpr std::array<unsigned char, 2> kGzipMagic = {0x1f, 0x8b};

bool is_gzip(const InputFile& file) {
  std::array<unsigned char, 2> start = {};
  if (file.size() < start.size()) return false;
  file.read(0, start.data(), start.size());
  return start == kGzipMagic;
}

// Unpacks the members of a gzip file one after the other; zlib checks their sums and sizes.
class Unpacker {
 public:
  explicit Unpacker(const InputFile& file) : file_(file), block_(kGzipBlock), plain_(kGzipBlock) {
    // 16: a gzip header is expected and its trailer checked.
    if (::inflateInit2(&stream_, 16 + MAX_WBITS) != Z_OK) throw std::bad_alloc();
  }
  ~Unpacker() { ::inflateEnd(&stream_); }
  Unpacker(const Unpacker&) = delete;
  Unpacker& operator=(const Unpacker&) = delete;

  void unpack(OutputFile& out) {
    do {
      unpack_member(out);
      feed();
      if (stream_.avail_in > 0 && *stream_.next_in != kGzipMagic[0]) {
        damaged("the packed content has ended and other bytes follow");
      }
      ::inflateReset(&stream_);
    } while (stream_.avail_in > 0);
  }

 private:
  void unpack_member(OutputFile& out) {
    int state = Z_OK;
    while (state != Z_STREAM_END) {
      feed();
      stream_.next_out = plain_.data();
      stream_.avail_out = static_cast<uInt>(plain_.size());
      state = ::inflate(&stream_, Z_NO_FLUSH);
      out.append(plain_.data(), plain_.size() - stream_.avail_out);
      check_unpacked(file_.name(), file_.size(), out.position());
      // No progress: the file ends before its stream does.
      if (state == Z_BUF_ERROR) damaged("it ends too early");
      if (state != Z_OK && state != Z_STREAM_END) {
        damaged(fmt::format("zlib finds '{}'", stream_.msg ? stream_.msg : "an error"));
      }
    }
  }

  void feed() {
    if (stream_.avail_in > 0) return;
    const auto n =
        static_cast<std::size_t>(std::min<std::uint64_t>(kGzipBlock, file_.size() - read_));
    file_.read(read_, block_.data(), n);
    read_ += n;
    stream_.next_in = block_.data();
    stream_.avail_in = static_cast<uInt>(n);
  }

  [[noreturn]] void damaged(const std::string& why) const {
    throw DataError(fmt::format("'{}' is not a sound gzip file: at byte {}: {}.", file_.name(),
                                read_ - stream_.avail_in, why));
  }

  const InputFile& file_;
  std::vector<unsigned char> block_, plain_;
  z_stream stream_ = {};
  std::uint64_t read_ = 0;
};

}  // namespace

FileRange open_maybe_packed(const std::filesystem::path& path) {
  auto file = std::make_shared<const InputFile>(path);
  if (!is_gzip(*file)) return {file, 0, file->size()};
  OutputFile out = OutputFile::unnamed(path.string() + ", unpacked");
  Unpacker(*file).unpack(out);
  return out.reopen();
}

}  // namespace saltus
