#include "reproduce/data/mat_bytes.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <new>
#include <vector>

#include "saltus/core/error.hpp"

namespace saltus {
namespace {

constexpr std::size_t kBlock = std::size_t{1} << 16;
// Deflate packs at most 1032 bytes into one.
constexpr std::uint64_t kMaxRatio = 1032;

}  // namespace

struct MatBytes::Unpacker {
  Unpacker() : block(kBlock) {
    if (::inflateInit(&stream) != Z_OK) throw std::bad_alloc();
  }
  ~Unpacker() { ::inflateEnd(&stream); }
  Unpacker(const Unpacker&) = delete;
  Unpacker& operator=(const Unpacker&) = delete;

  std::vector<unsigned char> block;
  z_stream stream = {};
  std::uint64_t read = 0;  // packed bytes that zlib was given
  bool ended = false;
};

MatBytes::MatBytes(const FileRange& range, bool packed)
    : range_(range), unpacker_(packed ? std::make_unique<Unpacker>() : nullptr) {}

MatBytes::~MatBytes() = default;

void MatBytes::refuse(const std::string& why) const {
  const std::string place =
      unpacker_ ? fmt::format("at byte {} of what is packed at byte {}", position_, range_.offset)
                : fmt::format("at byte {}", range_.offset + position_);
  throw DataError(fmt::format("'{}' cannot be used: {}: {}.", range_.file->name(), place, why));
}

std::uint64_t MatBytes::most_left() const {
  if (!unpacker_) return range_.size - position_;
  const Unpacker& u = *unpacker_;
  // zlib holds unpacked bytes back: no more than its window of 32 KiB.
  return u.ended ? 0 : (range_.size - u.read + u.stream.avail_in) * kMaxRatio + (1u << 15);
}

void MatBytes::feed() {
  Unpacker& u = *unpacker_;
  const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(kBlock, range_.size - u.read));
  range_.read(u.read, u.block.data(), n);
  u.read += n;
  u.stream.next_in = u.block.data();
  u.stream.avail_in = static_cast<uInt>(n);
}

// What zlib has answered.
void MatBytes::note(int state) {
  Unpacker& u = *unpacker_;
  if (state == Z_BUF_ERROR) refuse("the packed bytes end too early");
  if (state != Z_OK && state != Z_STREAM_END) {
    refuse(fmt::format("zlib finds '{}'", u.stream.msg ? u.stream.msg : "an error"));
  }
  u.ended = state == Z_STREAM_END;
}

void MatBytes::unpack(unsigned char* out, std::size_t bytes) {
  Unpacker& u = *unpacker_;
  while (bytes > 0) {
    if (u.ended) refuse("the packed bytes end too early");
    if (u.stream.avail_in == 0) feed();
    const auto room = static_cast<uInt>(std::min<std::size_t>(bytes, 1u << 30));
    u.stream.next_out = out;
    u.stream.avail_out = room;
    const int state = ::inflate(&u.stream, Z_NO_FLUSH);
    note(state);
    const std::size_t n = room - u.stream.avail_out;
    out += n;
    bytes -= n;
    position_ += n;
  }
}

void MatBytes::read(void* out, std::size_t bytes) {
  if (bytes > most_left()) refuse("it ends too early");
  if (unpacker_) return unpack(static_cast<unsigned char*>(out), bytes);
  range_.read(position_, out, bytes);
  position_ += bytes;
}

void MatBytes::skip(std::size_t bytes) {
  std::array<unsigned char, 1024> unused;
  while (bytes > 0) {
    const std::size_t n = std::min(bytes, unused.size());
    read(unused.data(), n);
    bytes -= n;
  }
}

void MatBytes::finish() {
  if (!unpacker_) return;
  Unpacker& u = *unpacker_;
  unsigned char one;
  // The sum lies behind the last byte: zlib has to be asked for one more to come to it.
  while (!u.ended) {
    if (u.stream.avail_in == 0) feed();
    u.stream.next_out = &one;
    u.stream.avail_out = 1;
    const int state = ::inflate(&u.stream, Z_NO_FLUSH);
    if (u.stream.avail_out == 0) refuse("more bytes are packed than the array has");
    note(state);
  }
}

}  // namespace saltus
