#include "saltus/io/images.hpp"

#include <gtest/gtest.h>

#include "test_files.hpp"
#ifdef SALTUS_HAVE_PNG
#include <png.h>
#endif

namespace saltus {
namespace {

template <class T>
RowBuffer<T> rows_of(const std::vector<std::vector<int>>& images) {
  RowBuffer<T> rows(static_cast<int>(images.size()), static_cast<int>(images[0].size()));
  for (int r = 0; r < rows.view().rows; ++r) {
    const auto& image = images[static_cast<std::size_t>(r)];
    std::transform(image.begin(), image.end(), rows.view()[r],
                   [](int entry) { return static_cast<T>(entry); });
  }
  return rows;
}

#ifdef SALTUS_HAVE_PNG

struct Picture {
  int width, height;
  std::vector<int> pixels;
};

Picture finish_reading(png_image& image) {
  // What the file holds: no colours, no transparency, 8 bits.
  EXPECT_EQ(image.format, static_cast<png_uint_32>(PNG_FORMAT_GRAY));
  image.format = PNG_FORMAT_GRAY;
  std::vector<std::uint8_t> pixels(PNG_IMAGE_SIZE(image));
  EXPECT_TRUE(png_image_finish_read(&image, nullptr, pixels.data(), 0, nullptr)) << image.message;
  return {static_cast<int>(image.width),
          static_cast<int>(image.height),
          {pixels.begin(), pixels.end()}};
}

Picture picture_of(const std::vector<std::byte>& png) {
  png_image image = {};
  image.version = PNG_IMAGE_VERSION;
  EXPECT_TRUE(png_image_begin_read_from_memory(&image, png.data(), png.size())) << image.message;
  return finish_reading(image);
}

TEST(Images, OneImageOfBits) {
  const auto rows = rows_of<Symbol>({{0, 1, 1, 0, 0, 1}});
  const Picture picture = picture_of(png_grid(rows.view(), {.height = 2, .width = 3}));
  EXPECT_EQ(picture.width, 3);
  EXPECT_EQ(picture.height, 2);
  EXPECT_EQ(picture.pixels, (std::vector<int>{0, 255, 255, 0, 0, 255}));
}

TEST(Images, BytesStayAsTheyAre) {
  std::vector<int> all(256);
  for (int i = 0; i < 256; ++i) all[static_cast<std::size_t>(i)] = i;
  const auto rows = rows_of<std::uint8_t>({all});
  EXPECT_EQ(picture_of(png_grid(rows.view(), {.height = 16, .width = 16})).pixels, all);
}

TEST(Images, LevelsAreSpreadFromBlackToWhite) {
  const auto rows = rows_of<Symbol>({{0, 1, 2, 3}});
  EXPECT_EQ(picture_of(png_grid(rows.view(), {.height = 1, .width = 4}, 4)).pixels,
            (std::vector<int>{0, 85, 170, 255}));
  EXPECT_THROW(png_grid(rows.view(), {.height = 1, .width = 4}, 3), UsageError);
}

// Three images in two columns: the place of a fourth and the gaps are grey.
TEST(Images, GridWithGapAndScale) {
  const auto rows = rows_of<std::uint8_t>({{1, 2}, {3, 4}, {5, 6}});
  const ImageGrid grid = {.height = 1, .width = 2, .columns = 2, .scale = 2, .gap = 1};
  const Picture picture = picture_of(png_grid(rows.view(), grid));
  EXPECT_EQ(picture.width, 9);
  EXPECT_EQ(picture.height, 5);
  constexpr int g = 128;
  EXPECT_EQ(picture.pixels, (std::vector<int>{1, 1, 2, 2, g, 3, 3, 4, 4,  //
                                              1, 1, 2, 2, g, 3, 3, 4, 4,  //
                                              g, g, g, g, g, g, g, g, g,  //
                                              5, 5, 6, 6, g, g, g, g, g,  //
                                              5, 5, 6, 6, g, g, g, g, g}));
}

TEST(Images, FewerImagesThanColumns) {
  const auto rows = rows_of<std::uint8_t>({{1}, {2}});
  const ImageGrid grid = {.height = 1, .width = 1, .columns = 10, .scale = 1, .gap = 0};
  EXPECT_EQ(picture_of(png_grid(rows.view(), grid)).pixels, (std::vector<int>{1, 2}));
}

TEST(Images, FilesHoldTheSameBytes) {
  const TestFolder folder;
  const auto rows = rows_of<Symbol>({{0, 1, 1, 0, 0, 1}});
  const ImageGrid grid = {.height = 3, .width = 2};
  write_png_grid(folder / "a.png", rows.view(), grid);
  const std::vector<std::byte> png = png_grid(rows.view(), grid);
  EXPECT_EQ(content_of(folder / "a.png"),
            std::string(reinterpret_cast<const char*>(png.data()), png.size()));
  png_image image = {};
  image.version = PNG_IMAGE_VERSION;
  ASSERT_TRUE(png_image_begin_read_from_file(&image, (folder / "a.png").c_str()));
  EXPECT_EQ(finish_reading(image).pixels, (std::vector<int>{0, 255, 255, 0, 0, 255}));
  EXPECT_THROW(write_png_grid(folder / "no/a.png", rows.view(), grid), FileError);
  EXPECT_TRUE(can_write_png());
}

#else

TEST(Images, WithoutLibpngAreRefused) {
  const auto rows = rows_of<Symbol>({{0, 1}});
  EXPECT_FALSE(can_write_png());
  try {
    png_grid(rows.view(), {.height = 1, .width = 2});
    ADD_FAILURE();
  } catch (const UsageError& error) {
    EXPECT_TRUE(contains(error.what(), "built without PNG"));
  }
}

#endif

TEST(Images, RefusesGridsThatDoNotFit) {
  const auto rows = rows_of<Symbol>({{0, 1, 1, 0, 0, 1}});
  const auto refused = [&](const ImageGrid& grid) {
    EXPECT_THROW(png_grid(rows.view(), grid), UsageError);
  };
  refused({.height = 2, .width = 2});
  refused({.height = -2, .width = -3});
  refused({.height = 2, .width = 3, .columns = 0});
  refused({.height = 2, .width = 3, .columns = 1, .scale = 0});
  refused({.height = 2, .width = 3, .columns = 1, .scale = 1, .gap = -1});
  refused({.height = 2, .width = 3, .columns = 1, .scale = 400000});
  refused({.height = 2, .width = 3, .columns = 1, .scale = 2147483647});
  EXPECT_THROW(png_grid(Rows<const Symbol>{}, {.height = 1, .width = 1}), UsageError);
}

}  // namespace
}  // namespace saltus
