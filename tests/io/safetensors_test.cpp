#include "io/models/safetensors.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "saltus/core/error.hpp"
#include "tensor_writer.hpp"
#include "test_files.hpp"

namespace saltus {
namespace {

Safetensors parsed(const std::string& bytes) {
  return Safetensors(memory_bytes(std::as_bytes(std::span(bytes)), "t.safetensors"));
}

std::vector<float> all_of_type(const std::string& type) {
  std::vector<std::uint16_t> bits(1 << 16);
  for (std::size_t i = 0; i < bits.size(); ++i) bits[i] = static_cast<std::uint16_t>(i);
  const std::string file = safetensors({{"x", type, {256, 256}, bytes_of(bits)}});
  return parsed(file).numbers<float>("x");
}

// Every number of the type, by its definition: (1 + m / 2^10) 2^(e - 15), m 2^-24 for e = 0.
TEST(Safetensors, HalfPrecisionIsExact) {
  const std::vector<float> values = all_of_type("F16");
  for (std::uint32_t bits = 0; bits < values.size(); ++bits) {
    const int exponent = static_cast<int>(bits >> 10 & 31),
              mantissa = static_cast<int>(bits & 1023);
    const double size = exponent == 0    ? std::ldexp(mantissa, -24)
                        : exponent == 31 ? std::numeric_limits<double>::infinity()
                                         : std::ldexp(1024 + mantissa, exponent - 25);
    if (exponent == 31 && mantissa) {
      EXPECT_TRUE(std::isnan(values[bits]));
    } else {
      ASSERT_EQ(values[bits], bits >> 15 ? -size : size) << bits;
      ASSERT_EQ(std::signbit(values[bits]), bits >> 15 == 1);
    }
  }
}

TEST(Safetensors, Bfloat16IsExact) {
  const std::vector<float> values = all_of_type("BF16");
  for (std::uint32_t bits = 0; bits < values.size(); ++bits) {
    ASSERT_EQ(std::bit_cast<std::uint32_t>(values[bits]), bits << 16);
  }
}

TEST(Safetensors, TypesAndShapes) {
  const std::string file = safetensors({{"single", "F32", {2, 1}, bytes_of<float>({0.1f, -2})},
                                        {"double", "F64", {3}, bytes_of<double>({0.1, 1e300, 3})},
                                        {"whole", "I64", {1}, bytes_of<std::int64_t>({7})},
                                        {"number", "F32", {}, bytes_of<float>({5})},
                                        {"none", "F16", {0, 4}, ""}});
  const Safetensors t = parsed(file);
  EXPECT_EQ(t.tensors().size(), 5u);  // __metadata__ is not an array
  EXPECT_EQ(t.numbers<float>("single"), (std::vector<float>{0.1f, -2}));
  EXPECT_EQ(t.numbers<double>("single"), (std::vector<double>{0.1f, -2}));
  EXPECT_EQ(t.numbers<double>("double"), (std::vector<double>{0.1, 1e300, 3}));
  EXPECT_EQ(t.numbers<float>("double")[0], 0.1f);
  EXPECT_EQ(t.numbers<float>("number"), std::vector<float>{5});
  EXPECT_TRUE(t.tensor("number").shape.empty());
  EXPECT_TRUE(t.numbers<float>("none").empty());
  EXPECT_TRUE(contains(data_error([&] { t.numbers<float>("whole"); }), "whole is of type I64"));
  EXPECT_TRUE(contains(data_error([&] { t.numbers<float>("other"); }), "no array 'other'"));
}

TEST(Safetensors, HeadersThatAreRefused) {
  const std::string numbers(24, '\0');
  const auto refused = [&](const std::string& header, const std::string& words) {
    const std::string file = with_header(header, numbers);
    EXPECT_TRUE(contains(data_error([&] { parsed(file); }), words)) << header;
  };
  const auto entry = [](const std::string& name, const std::string& shape, const std::string& at) {
    return "\"" + name + R"(": {"dtype": "F32", "shape": )" + shape + R"(, "data_offsets": )" + at +
           "}";
  };
  const auto file_of_two = [&](const std::string& first, const std::string& second) {
    return "{" + entry("a", "[4]", first) + "," + entry("b", "[2]", second) + "}";
  };
  EXPECT_NO_THROW(parsed(with_header(file_of_two("[0, 16]", "[16, 24]"), numbers)));
  EXPECT_NO_THROW(parsed(with_header(file_of_two("[8, 24]", "[0, 8]"), numbers)));
  refused(file_of_two("[0, 16]", "[8, 16]"), "overlap");
  refused(file_of_two("[0, 16]", "[24, 32]"), "overlap or leave gaps");
  refused(file_of_two("[0, 16]", "[0, 8]"), "overlap");
  refused("{" + entry("a", "[4]", "[0, 16]") + "}", "16 bytes of numbers, but there are 24");
  refused("{" + entry("a", "[8]", "[0, 32]") + "}", "32 bytes of numbers, but there are 24");
  refused("{" + entry("a", "[6]", "[24, 0]") + "}", "take the bytes");
  refused("{" + entry("a", "[5]", "[0, 24]") + "}", "take the bytes");
  refused("{" + entry("a", "[4611686018427387910]", "[0, 24]") + "}",
          "take the bytes");  // 2^62 + 6
  refused("{" + entry("a", "[4294967296, 4294967296, 6]", "[0, 24]") + "}", "take the bytes");
  refused("{" + entry("a", "[6]", "[18446744073709551592, 0]") + "}", "take the bytes");
  refused("{" + entry("a", "[-6]", "[0, 24]") + "}", "whole numbers");
  refused("{" + entry("a", "[6.0]", "[0, 24]") + "}", "whole numbers");
  refused("{" + entry("a", "[6]", "[0, 24, 24]") + "}", "two data_offsets");
  refused("{" + entry("a", "6", "[0, 24]") + "}", "whole numbers");
  refused(R"({"a": 3})", "a: its header needs");
  refused("{" + entry("a", "[6]", "[0, 24]") + "," + entry("a", "[6]", "[0, 24]") + "}", "twice");
  refused("[]", "not a safetensors file");
  refused("{", "not valid JSON");
  refused(std::string(100000, '['), "nested too deeply");
}

TEST(Safetensors, FilesThatAreCutOffAreRefused) {
  const std::string file = safetensors({{"x", "F32", {2}, bytes_of<float>({1, 2})}});
  EXPECT_NO_THROW(parsed(file));
  for (std::size_t size = 0; size < file.size(); ++size) {
    const std::string part = file.substr(0, size);
    EXPECT_THROW(parsed(part), DataError) << size;
  }
  EXPECT_THROW(parsed(file + "x"), DataError);
  EXPECT_THROW(parsed(std::string(16, '\xFF')), DataError);  // a header of 2^64 - 1 bytes
  const std::string long_header = with_header("{}" + std::string(17'000'000, ' '), "");
  EXPECT_TRUE(contains(data_error([&] { parsed(long_header); }), "header is too long"));
}

TEST(Safetensors, InSeveralFiles) {
  const TestFolder folder;
  fill_file(folder / "1.safetensors", safetensors({{"a", "F32", {1}, bytes_of<float>({1})}}));
  fill_file(folder / "2.safetensors", safetensors({{"b", "BF16", {1}, std::string("\x40\x40", 2)},
                                                   {"c", "F32", {1}, bytes_of<float>({3})}}));
  const auto index = folder / "model.safetensors.index.json";
  const auto write = [&](const std::string& map) {
    fill_file(index, R"({"metadata": {"total_size": 10}, "weight_map": )" + map + "}");
  };
  write(R"({"a": "1.safetensors", "b": "2.safetensors", "c": "2.safetensors"})");
  const std::filesystem::path path = index.parent_path();
  const TensorFiles files = open_tensors(path);
  EXPECT_EQ(files.size(), 3u);
  EXPECT_EQ(files.at("a")->numbers<float>("a")[0], 1);
  EXPECT_EQ(files.at("b")->numbers<float>("b")[0], 3);  // 0x4040
  EXPECT_EQ(files.at("b"), files.at("c"));              // opened once
  const auto refused = [&](const std::string& map, const std::string& words) {
    write(map);
    EXPECT_TRUE(contains(data_error([&] { open_tensors(path); }), words)) << map;
  };
  refused(R"({"a": "2.safetensors"})", "no array 'a'");
  refused(R"({"a": "../1.safetensors"})", "no file of this folder for 'a'");
  refused(R"({"a": "/etc/passwd"})", "no file of this folder");
  refused(R"({"a": ".."})", "no file of this folder");
  refused(R"({"a": ""})", "no file of this folder");
  refused(R"({"a": 1})", "no file of this folder");
  refused("[]", "there is no weight_map");
  fill_file(index, "[]");
  EXPECT_TRUE(contains(data_error([&] { open_tensors(path); }), "there is no weight_map"));
  write(R"({"a": "3.safetensors"})");
  EXPECT_THROW(open_tensors(path), FileError);
  // One file goes before several.
  fill_file(folder / "model.safetensors", safetensors({{"d", "F32", {1}, bytes_of<float>({1})}}));
  EXPECT_TRUE(open_tensors(path).contains("d"));
  EXPECT_THROW(open_tensors(path / "nowhere"), FileError);
}

}  // namespace
}  // namespace saltus
