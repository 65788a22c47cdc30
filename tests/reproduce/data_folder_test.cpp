#include "reproduce/data/data_folder.hpp"

#include <gtest/gtest.h>
#include <fstream>

#include <cmath>
#include <cstdlib>

#include "io/bytes/npy.hpp"
#include "io/bytes/zip.hpp"
#include "io/packed.hpp"
#include "io/test_files.hpp"
#include "real_data.hpp"
#include "saltus/diagnose/mmd.hpp"

namespace saltus {
namespace {

namespace fs = std::filesystem;

// The message of the FileError, for reading, that f must throw.
std::string file_error(const std::function<void()>& f) {
  try {
    f();
  } catch (const FileError& error) {
    EXPECT_FALSE(error.writing);
    return error.what();
  }
  ADD_FAILURE() << "no FileError";
  return "";
}

std::string amat_lines(int rows, int cols) {
  std::string line(2 * static_cast<std::size_t>(cols), ' '), text;
  for (std::size_t i = 0; i < line.size(); i += 2) line[i] = i % 6 == 0 ? '1' : '0';
  line.back() = '\n';
  for (int r = 0; r < rows; ++r) text += line;
  return text;
}

std::string images(char rows_low, std::size_t count) {
  // 10,000 is 0x2710.
  return std::string("\0\0\x08\3\0\0\x27", 7) + rows_low + std::string("\0\0\0\x1c\0\0\0\x1c", 8) +
         std::string(count * 784, '\x90');
}

TEST(DataFolder, IsTheOneGivenOrThatOfTheEnvironment) {
  const char* before = std::getenv("SALTUS_DATA");
  const std::string kept = before ? before : "";
  ::setenv("SALTUS_DATA", "/from/environment", 1);
  EXPECT_EQ(data_folder("given"), "given");
  EXPECT_EQ(data_folder(""), "/from/environment");
  ::unsetenv("SALTUS_DATA");
  EXPECT_EQ(data_folder(""), "");
  if (before) ::setenv("SALTUS_DATA", kept.c_str(), 1);
}

TEST(DataFolder, SaysWhatIsMissingAndWhereItIsPublished) {
  const TestFolder folder;
  fs::create_directory(folder / "static_mnist");
  fill_file(folder / "static_mnist/binarized_mnist_valid.amat.gz", "");
  const std::string message = file_error([&] { load_static_mnist(folder / "", Split::train); });
  EXPECT_EQ(message, missing_data_message("static_mnist", folder / ""));
  EXPECT_TRUE(contains(message, (folder / "static_mnist").string()));
  EXPECT_TRUE(contains(message, "Larochelle"));
  EXPECT_TRUE(contains(message, "for binarized_mnist_train.amat, binarized_mnist_test.amat. "));
  EXPECT_TRUE(contains(message, "Its files: binarized_mnist_train.amat or .gz, binarized_mnist_v"));
}

TEST(DataFolder, SaysHowToNameAFolder) {
  for (const PublishedData& set : published_data()) {
    const std::string message = missing_data_message(set.name, "");
    EXPECT_TRUE(contains(message, "--data"));
    EXPECT_TRUE(contains(message, "SALTUS_DATA"));
    EXPECT_TRUE(contains(message, set.files.substr(set.files.rfind(' ') + 1)));
  }
  EXPECT_THROW(missing_data_message("cifar", ""), UsageError);
}

TEST(DataFolder, OtherFilesMayServeInstead) {
  const TestFolder folder;
  const std::string message = file_error([&] { need_data("omniglot", folder / ""); });
  EXPECT_TRUE(contains(message,
                       "for chardata.mat. Its files: chardata.mat or .gz (or instead: "
                       "omniglot28_background.u8 or .gz, omniglot28_evaluation.u8 or .gz)"));
  fill_file(folder / "omniglot28_background.u8", "");
  file_error([&] { need_data("omniglot", folder / ""); });
  fill_file(folder / "omniglot28_evaluation.u8.gz", "");
  need_data("omniglot", folder / "");
  file_error([&] { need_data("mnist", folder / ""); });
  EXPECT_TRUE(contains(missing_data_message("blog", ""), "Its files: BlogFeedback.zip (or"));
  EXPECT_FALSE(contains(missing_data_message("adult", ""), "instead"));
}

TEST(DataFolder, FilesLieInTheFolderOfTheSetOrAbove) {
  const TestFolder folder;
  const std::string name = "t10k-images-idx3-ubyte";
  const auto found = [&] { return find_data_file("mnist", name, folder / ""); };
  file_error(found);
  fill_file(folder / (name + ".gz"), "");
  EXPECT_EQ(found(), folder / (name + ".gz"));
  fill_file(folder / name, "");
  EXPECT_EQ(found(), folder / name);
  fs::create_directory(folder / "mnist");
  fill_file(folder / ("mnist/" + name + ".gz"), "");
  EXPECT_EQ(found(), folder / ("mnist/" + name + ".gz"));
}

TEST(DataFolder, LoadsMnist) {
  const TestFolder folder;
  fill_file(folder / "t10k-images-idx3-ubyte.gz", gzipped(images('\x10', 10000)));
  const DataSet data = load_mnist(folder / "", Split::test);
  EXPECT_EQ(data.rows.view().rows, 10000);
  EXPECT_EQ(data.shape, (std::vector<int>{28, 28}));
  EXPECT_EQ(data.rows.view()[9999][783], 1);
  EXPECT_EQ(load_mnist_bytes(folder / "", Split::test).bytes[5], 0x90);
  EXPECT_THROW(load_mnist(folder / "", Split::valid), UsageError);
  file_error([&] { load_mnist(folder / "", Split::train); });
  // A sound file that is not the published one.
  fill_file(folder / "t10k-images-idx3-ubyte", images('\x0f', 9999));
  EXPECT_TRUE(contains(data_error([&] { load_mnist(folder / "", Split::test); }),
                       "(9999, 28, 28) where (10000, 28, 28) is published"));
}

TEST(DataFolder, LoadsStaticMnist) {
  const TestFolder folder;
  fill_file(folder / "binarized_mnist_valid.amat.gz", gzipped(amat_lines(10000, 784)));
  const DataSet data = load_static_mnist(folder / "", Split::valid);
  EXPECT_EQ(data.rows.view().rows, 10000);
  EXPECT_EQ(data.shape, (std::vector<int>{28, 28}));
  EXPECT_EQ(data.rows.view()[9999][783], 1);
  EXPECT_EQ(data.rows.view()[9999][782], 0);
  fill_file(folder / "binarized_mnist_test.amat", amat_lines(9999, 784));
  EXPECT_TRUE(contains(data_error([&] { load_static_mnist(folder / "", Split::test); }),
                       "(9999, 784) where (10000, 784) is published"));
}

std::string floats(const std::vector<std::uint64_t>& shape, float value) {
  std::size_t count = 1;
  for (const std::uint64_t n : shape) count *= n;
  const std::vector<float> numbers(count, value);
  return npy_header(NpyType::f4, shape) +
         std::string(reinterpret_cast<const char*>(numbers.data()), 4 * count);
}

void write_npz(const fs::path& path,
               const std::vector<std::pair<std::string, std::string>>& members) {
  std::ofstream{path};
  OutputFile out(path, path.string());
  ZipWriter zip(out);
  for (const auto& [name, content] : members) {
    zip.begin(name + ".npy", content.size());
    zip.append(content);
    zip.end();
  }
  zip.finish();
  out.close();
}

TEST(DataFolder, LoadsTheReferenceRbm) {
  const TestFolder folder;
  const auto write_rbm = [&](std::uint64_t hidden, float mean) {
    write_npz(folder / "rbm.npz", {{"weights", floats({500, 784}, 0.5)},
                                   {"visible_bias", floats({784}, -2)},
                                   {"hidden_bias", floats({hidden}, 3)},
                                   {"init_mean", floats({784}, mean)}});
  };
  const auto write_samples = [&](float start) {
    write_npz(folder / "samples.npz",
              {{"block_gibbs", floats({600, 784}, 1)}, {"start", floats({100, 784}, start)}});
  };
  const auto load = [&] { return load_rbm_reference(folder / ""); };
  write_rbm(500, 0.25);
  file_error(load);
  write_samples(0);
  const RbmReference reference = load();
  EXPECT_EQ(reference.weights, std::vector<double>(500 * 784, 0.5));
  EXPECT_EQ(reference.visible_bias, std::vector<double>(784, -2));
  EXPECT_EQ(reference.hidden_bias, std::vector<double>(500, 3));
  EXPECT_EQ(reference.init_mean, std::vector<double>(784, 0.25));
  EXPECT_EQ(reference.block_gibbs.view()[599][783], 1);
  EXPECT_EQ(reference.start.view().rows, 100);
  EXPECT_EQ(reference.start.view()[99][783], 0);

  write_samples(2);
  EXPECT_TRUE(contains(data_error(load), "'start' holds 2 in row 0, where 0 or 1"));
  write_samples(1);
  write_rbm(499, 0.25);
  EXPECT_TRUE(contains(data_error(load), "'hidden_bias' is of shape (499) where (500)"));
  write_rbm(500, 1.5);
  EXPECT_TRUE(contains(data_error(load), "init_mean holds 1.5"));
}

double ones(const DataSet& data) {
  double sum = 0;
  for (int r = 0; r < data.rows.view().rows; ++r) {
    for (const Symbol x : data.rows.view().row(r)) sum += x;
  }
  return sum / data.rows.view().rows;
}

TEST_F(RealData, Mnist) {
  need("mnist");
  if (IsSkipped()) return;
  const ByteData bytes = load_mnist_bytes(folder_, Split::train);
  double sum = 0;
  for (const std::uint8_t byte : bytes.bytes) sum += byte;
  // The mean pixel of the training images, known to everyone who has normalised them.
  EXPECT_NEAR(sum / 255 / static_cast<double>(bytes.bytes.size()), 0.1307, 5e-5);
  const DataSet data = load_mnist(folder_, Split::train);
  for (int i = 0; i < 784; ++i) {
    const std::size_t at = 59999 * 784 + static_cast<std::size_t>(i);
    ASSERT_EQ(data.rows.view()[59999][i], bytes.bytes[at] / 255.0 > 0.5);
  }
  EXPECT_EQ(load_mnist(folder_, Split::test).rows.view().rows, 10000);
}

TEST_F(RealData, StaticMnist) {
  need("static_mnist");
  if (IsSkipped()) return;
  // Pixels are drawn with the grey value as probability: 0.13 of 784 are ones.
  for (const Split split : {Split::train, Split::valid, Split::test}) {
    EXPECT_NEAR(ones(load_static_mnist(folder_, split)) / 784, 0.131, 0.003);
  }
}

TEST_F(RealData, RbmReference) {
  need("rbm_reference");
  if (IsSkipped()) return;
  const RbmReference reference = load_rbm_reference(folder_);
  EXPECT_EQ(reference.weights.size(), 500u * 784u);
  // The first 500 states are a reference set; the other 100 are as close to it as samples get.
  const Rows<Symbol> states = reference.block_gibbs.view();
  const MmdReference mmd(Rows<const Symbol>{states[0], 500, 784, states.stride});
  const Rows<const Symbol> second = {states[500], 100, 784, states.stride};
  EXPECT_NEAR(std::log(mmd.squared(second).v_statistic), -6.66, 0.005);
  EXPECT_NEAR(std::log(mmd.squared(reference.start.view()).v_statistic), -3.94, 0.005);
}

}  // namespace
}  // namespace saltus
