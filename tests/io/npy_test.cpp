#include "io/bytes/npy.hpp"

#include <gtest/gtest.h>

#include "test_files.hpp"

namespace saltus {
namespace {

// A header with the text given, padded as NumPy does.
std::string header_with(const std::string& text, int version = 1) {
  std::string header = "\x93NUMPY";
  header += static_cast<char>(version);
  header += '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) {
    header += static_cast<char>((text.size() >> (8 * i)) & 0xff);
  }
  return header + text;
}

std::string dictionary(const std::string& descr, const std::string& fortran,
                       const std::string& shape) {
  return "{'descr': '" + descr + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }\n";
}

template <class T>
std::string bytes_of(const std::vector<T>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(T)};
}

template <class To, class From>
std::vector<To> round_trip(const std::string& descr, const std::vector<From>& numbers) {
  const std::string shape = "(" + std::to_string(numbers.size()) + ",)";
  const std::string bytes = header_with(dictionary(descr, "False", shape)) + bytes_of(numbers);
  std::vector<To> out(numbers.size());
  parse_npy(file_of(bytes), "a").read(0, std::span(out));
  return out;
}

std::string refusal(const std::string& bytes) {
  return data_error([&] { parse_npy(file_of(bytes), "a"); });
}

TEST(NpyHeader, IsTheOneThatNumpyWrites) {
  const std::vector<std::uint64_t> shape = {3, 4};
  const std::string header = npy_header(NpyType::f8, shape);
  const std::string text = "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }";
  EXPECT_EQ(header.size(), 128u);
  EXPECT_EQ(header.substr(0, 10), std::string("\x93NUMPY\x01\x00\x76\x00", 10));
  EXPECT_EQ(header.substr(10, text.size()), text);
  EXPECT_EQ(header.back(), '\n');
}

TEST(NpyHeader, RoundTripsForEveryTypeAndShape) {
  const std::vector<std::vector<std::uint64_t>> shapes = {{}, {5}, {0}, {2, 3}, {4, 1, 7}};
  for (int t = 0; t <= static_cast<int>(NpyType::f8); ++t) {
    const NpyType type = static_cast<NpyType>(t);
    for (const auto& shape : shapes) {
      std::string bytes = npy_header(type, shape);
      ASSERT_EQ(bytes.size() % 64, 0u);
      bytes += std::string(28 * item_size(type), '\1');
      const NpyArray array = parse_npy(file_of(bytes), "a");
      EXPECT_EQ(array.type, type);
      EXPECT_EQ(array.shape, shape);
    }
  }
}

TEST(NpyHeader, VersionTwoAndOtherSpellingsAreRead) {
  const std::string text = "{ \"shape\":(2 ,3),'fortran_order':False,\"descr\":'|u1'}";
  const NpyArray array = parse_npy(file_of(header_with(text, 2) + "abcdef"), "a");
  EXPECT_EQ(array.shape, (std::vector<std::uint64_t>{2, 3}));
  EXPECT_EQ(content_of(array.data), "abcdef");
}

TEST(NpyHeader, RefusesWhatItDoesNotRead) {
  const std::string data(64, '\0');
  EXPECT_TRUE(
      contains(refusal(header_with(dictionary("<f8", "True", "(2, 2)")) + data), "Fortran"));
  EXPECT_TRUE(contains(refusal(header_with(dictionary(">f8", "False", "(2,)")) + data), "'>f8'"));
  EXPECT_TRUE(contains(refusal(header_with(dictionary("|O", "False", "(2,)")) + data), "'|O'"));
  EXPECT_TRUE(contains(refusal(header_with(dictionary("<f8", "False", "(-2,)")) + data), "header"));
  EXPECT_TRUE(contains(refusal(header_with("{'descr': [('a', '<f8')], }") + data), "structured"));
  EXPECT_TRUE(contains(refusal(header_with("{'descr': '<f8'}") + data), "header"));
  EXPECT_TRUE(contains(refusal(header_with("{'descr': '<f8', 'descr': '<f8'}") + data), "header"));
  EXPECT_TRUE(contains(refusal(header_with("", 3) + data), "version 3.0"));
  EXPECT_TRUE(contains(refusal("PK" + data), "no NumPy array"));
  EXPECT_TRUE(contains(refusal("\x93NUMPY"), "too short"));
  EXPECT_TRUE(contains(refusal(""), "'test.npz'"));
}

TEST(NpyHeader, RefusesShapesThatAreNotThere) {
  const std::string data(64, '\0');
  for (const char* shape :
       {"(9,)", "(3, 3)", "(1000000000000,)", "(4294967296, 4294967296)",
        "(2305843009213693952, 8)", "(18446744073709551615,)", "(18446744073709551616,)",
        "(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)"}) {
    EXPECT_TRUE(contains(refusal(header_with(dictionary("<f8", "False", shape)) + data), "'a'"))
        << shape;
  }
  std::string lying = header_with(dictionary("<f8", "False", "(2,)"), 2);
  lying[11] = '\x7f';  // a header of 2 GiB
  EXPECT_TRUE(contains(refusal(lying + data), "longer than the array"));
}

TEST(NpyHeader, SurvivesEveryTruncationAndByte) {
  const std::vector<std::uint64_t> shape = {2, 3};
  const std::string good = npy_header(NpyType::u2, shape) + std::string(12, '\1');
  for (std::size_t n = 0; n < good.size(); ++n) refusal(good.substr(0, n));
  int accepted = 0;
  for (std::size_t at = 0; at < good.size(); ++at) {
    for (const int flip : {0x01, 0x10, 0x80, 0xff}) {
      std::string bad = good;
      bad[at] = static_cast<char>(bad[at] ^ flip);
      accepted += succeeds([&] {
        const NpyArray array = parse_npy(file_of(bad), "a");
        std::vector<double> out(array.count());
        array.read(0, std::span(out));
      });
    }
  }
  // Of 560: the changes to the 12 bytes of data and some to spaces and to the shape.
  EXPECT_LT(accepted, 70);
}

TEST(NpyArray, ConvertsFromEveryType) {
  const std::vector<double> numbers = {0, 1, 100};
  EXPECT_EQ(round_trip<double>("|u1", std::vector<std::uint8_t>{0, 1, 100}), numbers);
  EXPECT_EQ(round_trip<double>("<u2", std::vector<std::uint16_t>{0, 1, 100}), numbers);
  EXPECT_EQ(round_trip<double>("<u4", std::vector<std::uint32_t>{0, 1, 100}), numbers);
  EXPECT_EQ(round_trip<double>("<u8", std::vector<std::uint64_t>{0, 1, 100}), numbers);
  EXPECT_EQ(round_trip<double>("|i1", std::vector<std::int8_t>{0, 1, 100}), numbers);
  EXPECT_EQ(round_trip<double>("<i2", std::vector<std::int16_t>{0, 1, 100}), numbers);
  EXPECT_EQ(round_trip<double>("<i4", std::vector<std::int32_t>{0, 1, 100}), numbers);
  EXPECT_EQ(round_trip<double>("<i8", std::vector<std::int64_t>{0, 1, 100}), numbers);
  EXPECT_EQ(round_trip<double>("<f4", std::vector<float>{0, 1, 100}), numbers);
  EXPECT_EQ(round_trip<double>("<f8", numbers), numbers);
}

TEST(NpyArray, IndicesMustFit) {
  const std::vector<Symbol> ends = {0, 65535};
  EXPECT_EQ(round_trip<Symbol>("<i8", std::vector<std::int64_t>{0, 65535}), ends);
  for (const std::int64_t bad : {std::int64_t{-1}, std::int64_t{65536}, std::int64_t{1} << 40}) {
    const auto read = [&] { round_trip<Symbol>("<i8", std::vector<std::int64_t>{0, bad}); };
    EXPECT_TRUE(contains(data_error(read), std::to_string(bad)));
  }
  EXPECT_NE(data_error([] { round_trip<Symbol>("|i1", std::vector<std::int8_t>{-1}); }), "");
}

TEST(NpyArray, ReadsPartsOfALongArray) {
  std::vector<std::uint32_t> numbers(300000);
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = static_cast<std::uint32_t>(i % 9973);
  const std::vector<std::uint64_t> shape = {numbers.size()};
  const NpyArray array =
      parse_npy(file_of(npy_header(NpyType::u4, shape) + bytes_of(numbers)), "a");
  std::vector<Symbol> out(200000);
  array.read(99999, std::span(out));
  for (std::size_t i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], numbers[99999 + i]);
}

}  // namespace
}  // namespace saltus
