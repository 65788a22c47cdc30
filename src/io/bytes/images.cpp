#include "saltus/io/images.hpp"

#include <fmt/format.h>
#ifdef SALTUS_HAVE_PNG
#include <png.h>
#endif

#include <algorithm>
#include <cassert>

#include "io/bytes/byte_file.hpp"
#include "saltus/core/error.hpp"

namespace saltus {
namespace {

constexpr std::uint8_t kGapGrey = 128;
constexpr std::int64_t kLongestSide = 1'000'000;  // libpng reads no more, unless told to
constexpr std::int64_t kMostPixels = 1 << 28;

struct Picture {
  int width, height;
  std::vector<std::uint8_t> pixels;
};

// Pixels along a side of `count` images of `size` entries.
std::int64_t side(int count, int size, const ImageGrid& grid) {
  return std::int64_t{count} * size * grid.scale + std::int64_t{count - 1} * grid.gap;
}

Picture empty_picture(int images, int entries, const ImageGrid& grid) {
  if (images < 1 || grid.height < 1 || grid.width < 1 || grid.columns < 1 || grid.scale < 1 ||
      grid.gap < 0) {
    throw UsageError("a grid of images needs an image, a size, columns and a scale of at least 1");
  }
  if (std::int64_t{grid.height} * grid.width != entries) {
    throw UsageError(fmt::format("images of {} x {} pixels do not fit rows of {} entries",
                                 grid.height, grid.width, entries));
  }
  if (std::max({grid.height, grid.width, images, grid.scale, grid.gap}) <= kLongestSide) {
    const int columns = std::min(grid.columns, images);
    const std::int64_t width = side(columns, grid.width, grid);
    const std::int64_t height = side((images + columns - 1) / columns, grid.height, grid);
    if (std::max(width, height) <= kLongestSide && width * height <= kMostPixels) {
      return {static_cast<int>(width), static_cast<int>(height),
              std::vector<std::uint8_t>(static_cast<std::size_t>(width * height), kGapGrey)};
    }
  }
  throw UsageError(fmt::format("a grid of {} images is too large for a picture", images));
}

void draw(Picture& picture, const std::vector<std::uint8_t>& image, int number,
          const ImageGrid& grid) {
  const int top = number / grid.columns * (grid.height * grid.scale + grid.gap);
  const int left = number % grid.columns * (grid.width * grid.scale + grid.gap);
  for (int y = 0; y < grid.height * grid.scale; ++y) {
    std::uint8_t* to = picture.pixels.data() + std::ptrdiff_t{top + y} * picture.width + left;
    const std::uint8_t* from = image.data() + std::ptrdiff_t{y / grid.scale} * grid.width;
    for (int x = 0; x < grid.width * grid.scale; ++x) to[x] = from[x / grid.scale];
  }
}

// `grey` gives the byte for an entry.
template <class T, class Grey>
std::vector<std::byte> png_of(Rows<const T> images, const ImageGrid& grid, Grey grey) {
  Picture picture = empty_picture(images.rows, images.cols, grid);
  std::vector<std::uint8_t> image(static_cast<std::size_t>(images.cols));
  for (int r = 0; r < images.rows; ++r) {
    const auto row = images.row(r);
    std::transform(row.begin(), row.end(), image.begin(), grey);
    draw(picture, image, r, grid);
  }
  return encode_png(picture.pixels, picture.width, picture.height);
}

void write_file(const std::filesystem::path& path, const std::vector<std::byte>& bytes) {
  replace_file(path, [&](OutputFile& out) { out.append(bytes.data(), bytes.size()); });
}

}  // namespace

#ifdef SALTUS_HAVE_PNG

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

GreyPicture read_png(const std::filesystem::path& path) {
  const InputFile file(path);
  constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 28;
  constexpr std::uint64_t kMostRead = std::uint64_t{1} << 26;  // pixels
  const auto refuse = [&](const std::string& why) -> void {
    throw DataError(path.string() + " is not a picture that can be read: " + why);
  };
  if (file.size() > kMostBytes) refuse("it is too large");
  std::vector<std::byte> bytes(static_cast<std::size_t>(file.size()));
  file.read(0, bytes.data(), bytes.size());
  png_image image = {};
  image.version = PNG_IMAGE_VERSION;
  if (!png_image_begin_read_from_memory(&image, bytes.data(), bytes.size())) refuse(image.message);
  const std::uint64_t pixels = std::uint64_t{image.width} * image.height;
  if (pixels > kMostRead) {
    png_image_free(&image);
    refuse(fmt::format("{} x {} pixels are too many", image.height, image.width));
  }
  image.format = PNG_FORMAT_GA;
  std::vector<std::uint8_t> both(PNG_IMAGE_SIZE(image));
  if (!png_image_finish_read(&image, nullptr, both.data(), 0, nullptr)) refuse(image.message);
  GreyPicture picture{static_cast<int>(image.height), static_cast<int>(image.width), {}, {}};
  for (std::size_t p = 0; p < pixels; ++p) {
    picture.grey.push_back(both[2 * p]);
    picture.opacity.push_back(both[2 * p + 1]);
  }
  return picture;
}

#else

bool can_write_png() {
  return false;
}

GreyPicture read_png(const std::filesystem::path&) {
  throw UsageError("this saltus was built without PNG");
}

std::vector<std::byte> encode_png(std::span<const std::uint8_t>, int, int) {
  throw UsageError("this saltus was built without PNG");
}

#endif

std::vector<std::byte> png_grid(Rows<const Symbol> images, const ImageGrid& grid, int levels) {
  if (levels < 2) throw UsageError("an image needs at least 2 levels");
  return png_of(images, grid, [levels](Symbol level) {
    if (level >= levels) {
      throw UsageError(fmt::format("an image of {} levels has an entry {}", levels, level));
    }
    return static_cast<std::uint8_t>((level * 255 + (levels - 1) / 2) / (levels - 1));
  });
}

std::vector<std::byte> png_grid(Rows<const std::uint8_t> images, const ImageGrid& grid) {
  return png_of(images, grid, [](std::uint8_t byte) { return byte; });
}

void write_png_grid(const std::filesystem::path& path, Rows<const Symbol> images,
                    const ImageGrid& grid, int levels) {
  write_file(path, png_grid(images, grid, levels));
}

void write_png_grid(const std::filesystem::path& path, Rows<const std::uint8_t> images,
                    const ImageGrid& grid) {
  write_file(path, png_grid(images, grid));
}

}  // namespace saltus
