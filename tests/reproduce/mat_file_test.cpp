#include "reproduce/data/mat_file.hpp"

#include <gtest/gtest.h>

#include "io/test_files.hpp"
#include "mat_writer.hpp"

namespace saltus {
namespace {

using Dims = std::vector<std::uint64_t>;
using Numbers = std::vector<double>;

const std::vector<double> kNumbers = {1, 2.5, -3, 0, 1e300, 6};

std::string doubles() {
  return mat::element({.entries = mat::bytes(kNumbers)});
}

MatArray read(const std::string& elements, const std::string& name = "x") {
  return read_mat_array(file_of(mat::file(elements)), name);
}

template <class T>
Numbers read_type(std::uint32_t type, const std::vector<T>& numbers, bool small = false) {
  const std::vector<std::uint32_t> dims = {1, static_cast<std::uint32_t>(numbers.size())};
  const std::string element =
      mat::element({.dims = dims, .type = type, .entries = mat::bytes(numbers), .small = small});
  const MatArray plain = read(element), packed = read(mat::packed(element));
  EXPECT_EQ(plain.values, packed.values);
  EXPECT_EQ(plain.dims, (Dims{1, numbers.size()}));
  return plain.values;
}

TEST(MatFile, EveryTypeOfNumber) {
  EXPECT_EQ(read(doubles()).values, kNumbers);
  EXPECT_EQ(read(doubles()).dims, (Dims{2, 3}));
  EXPECT_EQ(read_type<std::int8_t>(1, {-1, 2, 3, 4, 5}), (Numbers{-1, 2, 3, 4, 5}));
  EXPECT_EQ(read_type<std::uint8_t>(2, {255, 2, 3, 4, 5}), (Numbers{255, 2, 3, 4, 5}));
  EXPECT_EQ(read_type<std::uint8_t>(2, {255, 2, 3}, true), (Numbers{255, 2, 3}));
  EXPECT_EQ(read_type<std::int16_t>(3, {-300, 2}, true), (Numbers{-300, 2}));
  EXPECT_EQ(read_type<std::uint16_t>(4, {65535, 2, 3}), (Numbers{65535, 2, 3}));
  EXPECT_EQ(read_type<std::int32_t>(5, {-70000, 2, 3}), (Numbers{-70000, 2, 3}));
  EXPECT_EQ(read_type<std::uint32_t>(6, {4294967295u, 2}), (Numbers{4294967295., 2}));
  EXPECT_EQ(read_type<float>(7, {0.5f, -2}), (Numbers{0.5, -2}));
  EXPECT_EQ(read_type<double>(9, {0.1, -2}), (Numbers{0.1, -2}));
  EXPECT_EQ(read_type<std::int64_t>(12, {-5, 1ll << 40}), (Numbers{-5, 1099511627776.}));
  EXPECT_EQ(read_type<std::uint64_t>(13, {5}), (Numbers{5}));
}

TEST(MatFile, ChoosesByName) {
  const std::string cell = mat::element({.name = "a cell with a long name", .kind = 1});
  const std::string object = mat::part(14, mat::part(6, mat::words({17, 0})) + "what follows....");
  const std::string other =
      mat::element({.name = "y", .dims = {1, 1}, .entries = mat::bytes<double>({7})});
  const std::string all = cell + object + mat::packed(other) + doubles();
  EXPECT_EQ(read(all, "y").values, (Numbers{7}));
  EXPECT_EQ(read(all, "x").values, kNumbers);
  EXPECT_EQ(data_error([&] { read(all, "z"); }),
            "'test.npz' cannot be used: it has no array 'z'; it has 'a cell with a long name', '', "
            "'y', 'x'.");
  EXPECT_TRUE(contains(data_error([&] { read("", "z"); }), "it has none"));
}

TEST(MatFile, AnArrayLargerThanABlock) {
  std::vector<std::uint8_t> numbers(700000);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = static_cast<std::uint8_t>(i * i >> 5);
  }
  EXPECT_EQ(read_type(2, numbers), Numbers(numbers.begin(), numbers.end()));
}

std::string refusal(const std::string& bytes) {
  const std::string message = data_error([&] { read_mat_array(file_of(bytes), "x"); });
  EXPECT_TRUE(contains(message, "'test.npz' cannot be used: at byte "));
  return message;
}

TEST(MatFile, OtherFiles) {
  const std::string good = mat::file(doubles());
  EXPECT_TRUE(contains(refusal("\x89HDF\r\n"), "version 7.3 (HDF5), where version 5 is expected"));
  std::string other = good;
  other.replace(0, 10, "MATLAB 7.3");
  EXPECT_TRUE(contains(refusal(other), "version 7.3"));
  other = good;
  other.replace(124, 4, std::string("\1\0MI", 4));
  EXPECT_TRUE(contains(refusal(other), "at byte 126: its numbers are big-endian"));
  other[127] = 'X';
  EXPECT_TRUE(contains(refusal(other), "at byte 124: the mark of a MATLAB file of version 5"));
  EXPECT_TRUE(contains(refusal(good.substr(0, 100)), "at byte 100: it ends in the header"));
}

TEST(MatFile, Refusals) {
  const auto of = [](const mat::Array& array) { return refusal(mat::file(mat::element(array))); };
  const std::string entries = mat::bytes(kNumbers);
  EXPECT_TRUE(contains(of({.kind = 1, .entries = entries}), "'x' is of class 1, where numbers"));
  EXPECT_TRUE(contains(of({.kind = 4, .entries = entries}), "class 4"));
  EXPECT_TRUE(contains(of({.kind = 16, .entries = entries}), "class 16"));
  EXPECT_TRUE(contains(of({.kind = 6 | 0x800, .entries = entries}), "complex"));
  EXPECT_TRUE(contains(of({.type = 16, .entries = entries}), "type 16, which is no number"));
  EXPECT_TRUE(contains(of({.dims = {2, 4}, .entries = entries}),
                       "'x' has 6 entries where 8 (2 x 4) are expected"));
  EXPECT_TRUE(contains(of({.entries = entries + "?"}),
                       "49 bytes hold no whole number of entries of 8 bytes"));
  EXPECT_TRUE(contains(of({.dims = {6}, .entries = entries}), "less than two dimensions"));
  EXPECT_TRUE(contains(of({.dims = {6, 0xffffffff}, .entries = entries}), "dimension 1 is -1"));
  const std::uint32_t most = 0x7fffffff;
  EXPECT_TRUE(contains(of({.dims = {most, most, most}, .entries = entries}), "has 6 entries"));
  EXPECT_TRUE(contains(refusal(mat::file(mat::part(9, "12345678"))),
                       "at byte 128: an array (type 14 or 15, at most 8 bytes) is expected and "
                       "type 9 with 8 bytes is there"));
  EXPECT_TRUE(contains(refusal(mat::file(mat::part(14, mat::part(5, mat::words({6, 0}))))),
                       "the flags of an array"));
}

TEST(MatFile, CutAndDamagedFiles) {
  const std::string plain = mat::file(doubles()), packed = mat::file(mat::packed(doubles()));
  EXPECT_TRUE(contains(refusal(plain.substr(0, plain.size() - 8)), "at byte 128: an array"));
  EXPECT_TRUE(contains(refusal(plain.substr(0, 132)), "at byte 128: it ends too early"));
  EXPECT_TRUE(contains(refusal(packed.substr(0, packed.size() - 1)), "at byte 128: an array"));
  // An array that claims more than its element holds.
  std::string longer = plain;
  longer[longer.size() - 48 - 4] = 49;  // the size of the entries
  EXPECT_TRUE(contains(refusal(longer), "49 bytes of entries are expected and the array ends"));
  std::string sum = packed;
  sum.back() ^= 1;
  EXPECT_TRUE(contains(refusal(sum), "of what is packed at byte 136: zlib finds 'incorrect data"));
  std::string start = packed;
  start[136] ^= 0x0f;
  EXPECT_TRUE(contains(refusal(start), "at byte 0 of what is packed at byte 136: zlib finds"));
  EXPECT_TRUE(contains(refusal(mat::file(mat::packed(doubles().substr(0, 60)))),
                       "48 bytes of entries are expected and the array ends before"));
  EXPECT_TRUE(contains(refusal(mat::file(mat::packed(doubles().substr(0, 20)))),
                       "the packed bytes end too early"));
  EXPECT_TRUE(
      contains(refusal(mat::file(mat::packed(doubles() + "more"))), "more bytes are packed"));
}

// Damage of any kind is refused, or gives an array of the shape that it tells.
TEST(MatFile, SurvivesEveryTruncationAndByte) {
  const std::string small =
      mat::element({.dims = {1, 3}, .type = 2, .entries = "abc", .small = true});
  for (const std::string& good :
       {mat::file(doubles()), mat::file(mat::packed(doubles())), mat::file(small)}) {
    const auto check = [&](const std::string& bytes) {
      succeeds([&] {
        const MatArray array = read_mat_array(file_of(bytes), "x");
        std::uint64_t count = 1;
        for (const std::uint64_t n : array.dims) count *= n;
        ASSERT_EQ(array.values.size(), count);
      });
    };
    for (std::size_t n = 0; n < good.size(); ++n) check(good.substr(0, n));
    for (std::size_t at = 100; at < good.size(); ++at) {
      for (const int flip : {0x01, 0x80, 0xff}) {
        std::string bad = good;
        bad[at] = static_cast<char>(bad[at] ^ flip);
        check(bad);
      }
    }
  }
}

}  // namespace
}  // namespace saltus
