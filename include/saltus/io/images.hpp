// Rows of states as pictures: grids of greyscale images, as PNG.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "saltus/core/rows.hpp"

namespace saltus {

struct ImageGrid {
  int height, width;  // of one image; a row has height * width entries
  int columns = 10;   // images side by side
  int scale = 1;      // an entry becomes scale x scale pixels
  int gap = 1;        // grey pixels between images
};

// False when this build has no libpng: then the functions below throw UsageError.
bool can_write_png();

// 8-bit greyscale; `pixels` holds height rows of width bytes, 0 is black, 255 white.
std::vector<std::byte> encode_png(std::span<const std::uint8_t> pixels, int width, int height);

// A picture that a file holds, as 8-bit grey, row after row; opacity 255 is opaque, 0 transparent.
struct GreyPicture {
  int height = 0, width = 0;
  std::vector<std::uint8_t> grey, opacity;
};

// Throws FileError, DataError for a file that is no PNG, or of more than 2^26 pixels, and
// UsageError when this build has no libpng.
GreyPicture read_png(const std::filesystem::path& path);

// Level 0 is black, level `levels` - 1 white. Throws UsageError when the grid does not fit the
// rows, a level is out of range, or the picture would be larger than PNG programs read.
std::vector<std::byte> png_grid(Rows<const Symbol> images, const ImageGrid& grid, int levels = 2);
// Bytes as they are.
std::vector<std::byte> png_grid(Rows<const std::uint8_t> images, const ImageGrid& grid);

// Also throws FileError when the file cannot be written.
void write_png_grid(const std::filesystem::path& path, Rows<const Symbol> images,
                    const ImageGrid& grid, int levels = 2);
void write_png_grid(const std::filesystem::path& path, Rows<const std::uint8_t> images,
                    const ImageGrid& grid);

}  // namespace saltus
