#include "io/bytes/png.hpp"

#include "saltus/core/error.hpp"
#include "saltus/io/images.hpp"

#ifdef SALTUS_HAVE_PNG

#include <png.h>

#include <cassert>
#include <new>
#include <string>

namespace saltus {

bool can_write_png() {
  return true;
}

std::vector<std::byte> encode_png(std::span<const std::uint8_t> pixels, int width, int height) {
  assert(pixels.size() == static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
  png_image image = {};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(width);
  image.height = static_cast<png_uint_32>(height);
  image.format = PNG_FORMAT_GRAY;
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
  std::vector<std::byte> png(size);
  if (!png_image_write_to_memory(&image, png.data(), &size, 0, pixels.data(), width, nullptr)) {
    throw UsageError("libpng cannot make this image: " + std::string(image.message));
  }
  png.resize(size);
  return png;
}

}  // namespace saltus

#else

namespace saltus {

bool can_write_png() {
  return false;
}

std::vector<std::byte> encode_png(std::span<const std::uint8_t>, int, int) {
  throw UsageError("this saltus was built without PNG");
}

}  // namespace saltus

#endif
