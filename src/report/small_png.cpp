// PNG (ISO/IEC 15948) in its simplest form: 8 bits of grey, one compressed block of data.
#include "report/small_png.hpp"

#include <zlib.h>

#include <cassert>
#include <stdexcept>
#include <string_view>

namespace saltus::report {
namespace {

using Bytes = std::vector<std::byte>;

void put_u32(Bytes& out, std::uint32_t v) {
  for (int shift = 24; shift >= 0; shift -= 8) out.push_back(static_cast<std::byte>(v >> shift));
}

void put_chunk(Bytes& out, std::string_view type, const Bytes& data) {
  put_u32(out, static_cast<std::uint32_t>(data.size()));
  const std::size_t checked = out.size();
  for (const char c : type) out.push_back(static_cast<std::byte>(c));
  out.insert(out.end(), data.begin(), data.end());
  const uLong sum = ::crc32(0, reinterpret_cast<const Bytef*>(out.data() + checked),
                            static_cast<uInt>(out.size() - checked));
  put_u32(out, static_cast<std::uint32_t>(sum));
}

Bytes header(int width, int height) {
  Bytes out;
  put_u32(out, static_cast<std::uint32_t>(width));
  put_u32(out, static_cast<std::uint32_t>(height));
  // Bit depth 8, grey, and the only compression, filter method and interlacing that we use.
  for (const int v : {8, 0, 0, 0, 0}) out.push_back(static_cast<std::byte>(v));
  return out;
}

Bytes deflated(int width, int height, std::span<const std::uint8_t> pixels) {
  const auto columns = static_cast<std::size_t>(width);
  Bytes rows;
  for (std::size_t r = 0; r < static_cast<std::size_t>(height); ++r) {
    rows.push_back(std::byte{0});  // no filter
    for (std::size_t c = 0; c < columns; ++c) rows.push_back(std::byte{pixels[r * columns + c]});
  }
  uLongf size = ::compressBound(rows.size());
  Bytes out(size);
  if (::compress2(reinterpret_cast<Bytef*>(out.data()), &size,
                  reinterpret_cast<const Bytef*>(rows.data()), rows.size(),
                  Z_BEST_COMPRESSION) != Z_OK) {
    throw std::runtime_error("zlib cannot compress a picture");
  }
  out.resize(size);
  return out;
}

}  // namespace

std::vector<std::byte> grey_png(int width, int height, std::span<const std::uint8_t> pixels) {
  assert(width > 0 && height > 0);
  assert(pixels.size() == static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
  Bytes out;
  for (const int v : {0x89, 'P' + 0, 'N' + 0, 'G' + 0, 0x0D, 0x0A, 0x1A, 0x0A}) {
    out.push_back(static_cast<std::byte>(v));
  }
  put_chunk(out, "IHDR", header(width, height));
  put_chunk(out, "IDAT", deflated(width, height, pixels));
  put_chunk(out, "IEND", {});
  return out;
}

}  // namespace saltus::report
