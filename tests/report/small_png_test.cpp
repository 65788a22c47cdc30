#include "report/small_png.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstring>
#include <map>
#include <string>

namespace saltus::report {
namespace {

std::uint32_t u32(const std::vector<std::byte>& bytes, std::size_t at) {
  std::uint32_t v = 0;
  for (std::size_t k = 0; k < 4; ++k) v = v << 8 | std::to_integer<std::uint32_t>(bytes[at + k]);
  return v;
}

// The chunks by name, their checksums verified.
std::map<std::string, std::vector<std::byte>> chunks_of(const std::vector<std::byte>& png) {
  std::map<std::string, std::vector<std::byte>> chunks;
  EXPECT_EQ(std::memcmp(png.data(), "\x89PNG\r\n\x1a\n", 8), 0);
  for (std::size_t at = 8; at < png.size();) {
    const std::size_t length = u32(png, at);
    const std::string type(reinterpret_cast<const char*>(&png[at + 4]), 4);
    const auto* checked = reinterpret_cast<const Bytef*>(&png[at + 4]);
    EXPECT_EQ(u32(png, at + 8 + length), ::crc32(0, checked, static_cast<uInt>(length + 4)));
    const auto first = png.begin() + static_cast<std::ptrdiff_t>(at) + 8;
    chunks[type].assign(first, first + static_cast<std::ptrdiff_t>(length));
    at += length + 12;
  }
  return chunks;
}

TEST(SmallPng, HoldsThePixels) {
  constexpr int width = 5, height = 3;
  std::vector<std::uint8_t> pixels;
  for (int i = 0; i < width * height; ++i) pixels.push_back(static_cast<std::uint8_t>(17 * i));
  auto chunks = chunks_of(grey_png(width, height, pixels));
  ASSERT_EQ(chunks.size(), 3U);
  EXPECT_TRUE(chunks["IEND"].empty());
  ASSERT_EQ(chunks["IHDR"].size(), 13U);
  EXPECT_EQ(u32(chunks["IHDR"], 0), 5U);
  EXPECT_EQ(u32(chunks["IHDR"], 4), 3U);
  EXPECT_EQ(u32(chunks["IHDR"], 8), 0x08000000U);  // 8 bits, grey

  std::vector<std::uint8_t> rows((width + 1) * height);
  uLongf size = rows.size();
  ASSERT_EQ(::uncompress(rows.data(), &size, reinterpret_cast<const Bytef*>(chunks["IDAT"].data()),
                         chunks["IDAT"].size()),
            Z_OK);
  ASSERT_EQ(size, rows.size());
  for (std::size_t r = 0; r < height; ++r) {
    EXPECT_EQ(rows[r * (width + 1)], 0);
    for (std::size_t c = 0; c < width; ++c) {
      EXPECT_EQ(rows[r * (width + 1) + 1 + c], pixels[r * width + c]);
    }
  }
}

}  // namespace
}  // namespace saltus::report
