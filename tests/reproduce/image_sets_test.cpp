#include "reproduce/data/image_sets.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "io/packed.hpp"
#include "io/test_files.hpp"
#include "mat_writer.hpp"
#include "real_data.hpp"
#include "reproduce/data/mat_file.hpp"

namespace saltus {
namespace {

using Bytes = std::vector<std::uint8_t>;

int percent(double number) {
  return number >= 0 ? static_cast<int>(100 * number) : -1;
}

// Two images of 2 x 2: a b / c d is stored as a c b d.
TEST(ImageSets, ImagesOfMatlabAreTurned) {
  const std::vector<double> columns = {.01, .03, .02, .04, .11, .13, .12, .14};
  const std::vector<double> rows = {.01, .11, .03, .13, .02, .12, .04, .14};
  const std::string file =
      mat::file(mat::element({.name = "c", .dims = {4, 2}, .entries = mat::bytes(columns)}) +
                mat::element({.name = "r", .dims = {2, 4}, .entries = mat::bytes(rows)}));
  const Bytes expected = {1, 2, 3, 4, 11, 12, 13, 14};
  EXPECT_EQ(read_mat_images(file_of(file), "c", {MatImages::columns, 2, 2, percent}).bytes,
            expected);
  const ByteRows images = read_mat_images(file_of(file), "r", {MatImages::rows, 2, 2, percent});
  EXPECT_EQ(images.bytes, expected);
  EXPECT_EQ(images.rows(), 2);
  EXPECT_EQ(images.cols, 4);
  EXPECT_TRUE(contains(data_error([&] {
                         read_mat_images(file_of(file), "r", {MatImages::columns, 2, 2, percent});
                       }),
                       "its array 'r' is of shape (2, 4) where (4, 2) is published"));
  EXPECT_TRUE(contains(
      data_error([&] {
        read_mat_images(file_of(file), "r", {MatImages::rows, 2, 2, [](double) { return -1; }});
      }),
      "'r' holds 0.01 in image 0"));
}

// An array of 0 and 1 in which image n has one at the entry n, counted column by column.
std::string one_each(const std::string& name, std::uint32_t count, bool rows, char fill) {
  std::string entries(std::size_t{784} * count, fill);
  for (std::size_t n = 0; n < count; ++n) {
    const std::size_t p = n % 784;
    entries[rows ? p * count + n : n * 784 + p] ^= 1;
  }
  const std::vector<std::uint32_t> dims = {rows ? count : 784, rows ? 784 : count};
  return mat::packed(mat::element({.name = name, .dims = dims, .type = 2, .entries = entries}));
}

TEST(ImageSets, Caltech) {
  const TestFolder folder;
  const auto write = [&](std::uint32_t train) {
    fill_file(
        folder / "caltech101_silhouettes_28_split1.mat",
        mat::file(one_each("train_data", train, true, 1) + one_each("val_data", 2264, true, 1) +
                  one_each("test_data", 2307, true, 1)));
  };
  write(4100);
  const ImageSet set = load_image_set("caltech", folder / "");
  EXPECT_EQ(set.name, "caltech");
  EXPECT_EQ(set.height, 28);
  EXPECT_EQ(set.width, 28);
  EXPECT_FALSE(set.grey);
  EXPECT_EQ(set.train.rows(), 4100);
  EXPECT_EQ(set.valid.rows(), 2264);
  EXPECT_EQ(set.test.rows(), 2307);
  // Turned and inverted: entry 29 of 784 is in the second column and the second row, 30 below it.
  const auto image = set.test.view().row(30);
  EXPECT_EQ(std::accumulate(image.begin(), image.end(), 0), 1);
  EXPECT_EQ(image[2 * 28 + 1], 1);
  write(4099);
  EXPECT_TRUE(contains(data_error([&] { load_image_set("caltech", folder / ""); }),
                       "'train_data' is of shape (4099, 784) where (4100, 784) is published"));
}

TEST(ImageSets, OmniglotOfBothForms) {
  const TestFolder folder;
  const std::string name = "omniglot28_background.u8";
  fill_file(folder / (name + ".gz"), gzipped(std::string(19280 * 784, '\x20')));
  std::string test(13180 * 784, '\x30');
  test.back() = '\x31';
  fill_file(folder / "omniglot28_evaluation.u8", test);
  const ImageSet made = load_image_set("omniglot", folder / "");
  EXPECT_TRUE(made.grey);
  EXPECT_EQ(made.train.rows(), 17935);
  EXPECT_EQ(made.valid.rows(), 1345);
  EXPECT_EQ(made.test.rows(), 13180);
  EXPECT_EQ(made.train.bytes[0], 0x20);
  EXPECT_EQ(made.test.bytes.back(), 0x31);
  ASSERT_EQ(made.notes.size(), 1u);
  EXPECT_TRUE(contains(made.notes[0], "not the published chardata.mat"));

  fill_file(folder / name, std::string(1000, '\0'));
  EXPECT_TRUE(contains(data_error([&] { load_image_set("omniglot", folder / ""); }),
                       "it has 1000 bytes where 15115520 (19280 x 28 x 28) are expected"));

  fill_file(folder / "chardata.mat",
            mat::file(one_each("data", 24345, false, 0) + one_each("testdata", 8070, false, 0)));
  const ImageSet published = load_image_set("omniglot", folder / "");
  EXPECT_EQ(published.train.rows(), 23000);
  EXPECT_EQ(published.valid.rows(), 1345);
  EXPECT_EQ(published.test.rows(), 8070);
  EXPECT_TRUE(published.grey);
  EXPECT_TRUE(published.notes.empty());
  EXPECT_EQ(published.test.view()[30][2 * 28 + 1], 255);
  // The first of the shuffled images is not the first of the file.
  EXPECT_EQ(published.train.bytes[0], 0);
}

TEST(ImageSets, NamesAndMissingFiles) {
  const TestFolder folder;
  for (const std::string& name : image_set_names()) {
    try {
      load_image_set(name, folder / "");
      ADD_FAILURE() << name;
    } catch (const FileError& error) {
      EXPECT_EQ(error.what(),
                missing_data_message(name == "dynamic_mnist" ? "mnist" : name, folder / ""));
    }
  }
  EXPECT_THROW(load_image_set("mnist", folder / ""), UsageError);
}

TEST(ImageSets, AFileOfTheUser) {
  const TestFolder folder;
  std::string text;  // row r is r in binary
  for (int r = 0; r < 25; ++r) {
    for (int bit = 0; bit < 9; ++bit) text += (r >> bit & 1) ? "1 " : "0 ";
    text += "\n";
  }
  fill_file(folder / "my.amat", text);
  const ImageSet set = image_set_from_file(folder / "my.amat", 3);
  EXPECT_EQ(set.name, "my.amat");
  EXPECT_EQ(set.height, 3);
  EXPECT_EQ(set.width, 3);
  EXPECT_FALSE(set.grey);
  EXPECT_EQ(set.train.rows(), 21);
  EXPECT_EQ(set.valid.rows(), 2);
  EXPECT_EQ(set.test.rows(), 2);
  std::vector<int> numbers;
  for (const ByteRows* part : {&set.train, &set.valid, &set.test}) {
    for (int r = 0; r < part->rows(); ++r) {
      int number = 0;
      for (int bit = 0; bit < 9; ++bit) number |= part->view()[r][bit] << bit;
      numbers.push_back(number);
    }
  }
  EXPECT_FALSE(std::is_sorted(numbers.begin(), numbers.end()));
  std::sort(numbers.begin(), numbers.end());
  for (int r = 0; r < 25; ++r) EXPECT_EQ(numbers[static_cast<std::size_t>(r)], r);
  EXPECT_EQ(set.train.bytes, image_set_from_file(folder / "my.amat", 3).train.bytes);
  EXPECT_NE(set.train.bytes, image_set_from_file(folder / "my.amat", 4).train.bytes);
}

TEST(ImageSets, FilesThatHoldNoImages) {
  const TestFolder folder;
  fill_file(folder / "a.csv", "0,1\n1,1\n1,0\n");
  EXPECT_TRUE(contains(data_error([&] { image_set_from_file(folder / "a.csv"); }),
                       "its rows are of shape (2), where images"));
  fill_file(folder / "a.csv", "0,1,1,1\n1,1,0,0\n");
  EXPECT_TRUE(contains(data_error([&] { image_set_from_file(folder / "a.csv"); }), "2 rows"));
  fill_file(folder / "a.csv", "0,1,1,1\n1,1,0,0\n1,1,1,1\n");
  EXPECT_EQ(image_set_from_file(folder / "a.csv").train.rows(), 1);
  const std::string idx("\0\0\x08\3\0\0\0\3\0\0\0\1\0\0\0\2\0\x80\xff\0\0\0", 22);
  fill_file(folder / "a-ubyte", idx);
  const ImageSet set = image_set_from_file(folder / "a-ubyte");
  EXPECT_EQ(set.height, 1);
  EXPECT_EQ(set.width, 2);
}

ByteRows grey_image(int rows) {
  ByteRows images{256, Bytes(static_cast<std::size_t>(rows) * 256)};
  for (std::size_t i = 0; i < images.bytes.size(); ++i) {
    images.bytes[i] = static_cast<std::uint8_t>(i);
  }
  return images;
}

TEST(Binarise, FollowsTheGreyValues) {
  // Every grey value 20,000 times: the largest of 256 deviations is below 5 standard errors.
  const ByteRows images = grey_image(20000);
  const RowBuffer<Symbol> drawn = binarise(images, true, 7, 0);
  for (int grey = 0; grey < 256; ++grey) {
    double ones = 0;
    for (int r = 0; r < 20000; ++r) ones += drawn.view()[r][grey];
    const double p = grey / 255.0;
    EXPECT_NEAR(ones / 20000, p, 5 * std::sqrt(p * (1 - p) / 20000)) << grey;
  }
}

TEST(Binarise, IsAFunctionOfSeedDrawRowAndPixel) {
  const ByteRows images = grey_image(50);
  const RowBuffer<Symbol> all = binarise(images, true, 7, 3);
  const std::vector<std::int32_t> rows = {49, 0, 17};
  const RowBuffer<Symbol> some(3, 256);
  binarise(images, true, rows, 7, 3, some.view());
  const auto same = [](std::span<Symbol> a, std::span<Symbol> b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  };
  for (int k = 0; k < 3; ++k) {
    EXPECT_TRUE(same(some.view().row(k), all.view().row(rows[static_cast<std::size_t>(k)])));
  }
  EXPECT_FALSE(same(all.view().row(0), all.view().row(1)));
  for (const auto& [seed, draw] : {std::pair<std::uint64_t, std::uint64_t>{8, 3},
                                   {7, 4},
                                   {7, kValidDraw},
                                   {7, kTestDraw},
                                   {7, kBaseDraw}}) {
    const RowBuffer<Symbol> other = binarise(images, true, seed, draw);
    EXPECT_FALSE(same(all.view().row(0), other.view().row(0)));
  }
}

TEST(Binarise, BitsAreCopied) {
  const ByteRows images{3, {0, 1, 1, 1, 0, 0}};
  const RowBuffer<Symbol> drawn = binarise(images, false, 7, 3);
  EXPECT_EQ(drawn.view()[0][1], 1);
  EXPECT_EQ(drawn.view()[1][0], 1);
  EXPECT_EQ(drawn.view()[1][1], 0);
}

class RealImages : public RealData {
 protected:
  static double mean(const ByteRows& images) {
    double sum = 0;
    for (const std::uint8_t byte : images.bytes) sum += byte;
    return sum / static_cast<double>(images.bytes.size());
  }
  static int sum(const ByteRows& images, int row) {
    const auto image = images.view().row(row);
    return std::accumulate(image.begin(), image.end(), 0);
  }
};

// Reference: NumPy and SciPy.
TEST_F(RealImages, StaticMnist) {
  need("static_mnist");
  if (IsSkipped()) return;
  const ImageSet set = load_image_set("static_mnist", folder_);
  EXPECT_EQ(set.train.rows(), 50000);
  EXPECT_EQ(set.valid.rows(), 10000);
  EXPECT_EQ(set.test.rows(), 10000);
  EXPECT_FALSE(set.grey);
  EXPECT_NEAR(mean(set.train), 0.13056227, 1e-8);
  EXPECT_NEAR(mean(set.test), 0.13251224, 1e-8);
}

TEST_F(RealImages, DynamicMnist) {
  need("mnist");
  if (IsSkipped()) return;
  const ImageSet set = load_image_set("dynamic_mnist", folder_);
  EXPECT_EQ(set.train.rows(), 50000);
  EXPECT_EQ(set.valid.rows(), 10000);
  EXPECT_EQ(set.test.rows(), 10000);
  EXPECT_TRUE(set.grey);
  EXPECT_EQ(sum(set.train, 49999), 26846);
  EXPECT_EQ(sum(set.valid, 0), 22386);
  EXPECT_NEAR(mean(set.test), 33.79122449, 1e-7);
}

TEST_F(RealImages, Caltech) {
  need("caltech");
  if (IsSkipped()) return;
  const ImageSet set = load_image_set("caltech", folder_);
  EXPECT_EQ(set.train.rows(), 4100);
  EXPECT_EQ(set.valid.rows(), 2264);
  EXPECT_EQ(set.test.rows(), 2307);
  EXPECT_NEAR(mean(set.train), 0.44894537, 1e-8);
  EXPECT_EQ(sum(set.train, 0), 422);
  EXPECT_EQ(sum(set.train, 4099), 247);
  EXPECT_EQ(sum(set.valid, 0), 272);
  EXPECT_EQ(sum(set.test, 2306), 238);
}

TEST_F(RealImages, Omniglot) {
  need("omniglot");
  if (IsSkipped()) return;
  const ImageSet set = load_image_set("omniglot", folder_);
  EXPECT_TRUE(set.grey);
  EXPECT_EQ(set.valid.rows(), 1345);
  if (set.notes.empty()) return;  // chardata.mat, whose shape was checked on loading
  EXPECT_EQ(set.train.rows(), 17935);
  EXPECT_EQ(set.test.rows(), 13180);
  EXPECT_EQ(sum(set.train, 0), 10263);
  EXPECT_EQ(sum(set.train, 17934), 15304);
  EXPECT_EQ(sum(set.valid, 0), 18747);
  EXPECT_EQ(sum(set.test, 0), 31390);
}

}  // namespace
}  // namespace saltus
