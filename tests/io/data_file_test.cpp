#include "saltus/io/data_file.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "io/bytes/npy.hpp"
#include "io/bytes/zip.hpp"
#include "packed.hpp"
#include "test_files.hpp"

namespace saltus {
namespace {

using Shape = std::vector<int>;

std::string idx(const std::vector<std::uint32_t>& dims, const std::string& bytes) {
  std::string file = {'\0', '\0', '\x08', static_cast<char>(dims.size())};
  for (const std::uint32_t n : dims) {
    for (int shift = 24; shift >= 0; shift -= 8) file += static_cast<char>(n >> shift & 0xff);
  }
  return file + bytes;
}

template <class T>
std::string npy(NpyType type, const std::vector<std::uint64_t>& shape,
                const std::vector<T>& numbers) {
  return npy_header(type, shape) +
         std::string(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(T));
}

std::string npz(const std::vector<std::pair<std::string, std::string>>& members) {
  OutputFile out = OutputFile::unnamed("test.npz");
  ZipWriter zip(out);
  for (const auto& [name, content] : members) {
    zip.begin(name, content.size());
    zip.append(content);
    zip.end();
  }
  zip.finish();
  return content_of(out.reopen());
}

// The rows as text: "011/010".
std::string shown(const DataSet& data) {
  std::string text;
  for (int r = 0; r < data.rows.view().rows; ++r) {
    if (r > 0) text += '/';
    for (const Symbol x : data.rows.view().row(r)) text += static_cast<char>('0' + x);
  }
  return text;
}

class DataFile : public testing::Test {
 protected:
  std::filesystem::path file(const std::string& name, const std::string& bytes) {
    fill_file(folder_ / name, bytes);
    return folder_ / name;
  }
  DataSet read(const std::string& name, const std::string& bytes) {
    return read_binary_data(file(name, bytes));
  }
  // Every refusal names the file.
  std::string refusal(const std::string& name, const std::string& bytes) {
    const std::string message = data_error([&] { read(name, bytes); });
    EXPECT_TRUE(contains(message, (folder_ / name).string()));
    return message;
  }

  TestFolder folder_;
};

const std::vector<std::uint8_t> kBits = {0, 1, 1, 0, 1, 0};
const std::string kShown = "011/010";

TEST_F(DataFile, IdxBytesBecomeBitsAtTheThreshold) {
  const std::string bytes = idx({2, 1, 3}, {'\0', '\x80', '\xff', '\x7f', '\x81', '\1'});
  const DataSet data = read("train-images-idx3-ubyte", bytes);
  EXPECT_EQ(shown(data), kShown);
  EXPECT_EQ(data.shape, (Shape{1, 3}));
  EXPECT_EQ(shown(read_binary_data(file("a-ubyte", bytes), 127)), "011/110");
  EXPECT_EQ(shown(read_binary_data(file("a-ubyte", bytes), 1)), "011/111");
}

TEST_F(DataFile, IdxIsReadAsBytes) {
  const ByteData labels = read_idx(file("train-labels-idx1-ubyte", idx({3}, "\5\1\7")));
  EXPECT_EQ(labels.dims, (Shape{3}));
  EXPECT_EQ(labels.bytes, (std::vector<std::uint8_t>{5, 1, 7}));
  const ByteData images = read_idx(file("i", gzipped(idx({1, 2, 2}, "\1\2\3\xff"))));
  EXPECT_EQ(images.dims, (Shape{1, 2, 2}));
  EXPECT_EQ(images.bytes, (std::vector<std::uint8_t>{1, 2, 3, 255}));
}

TEST_F(DataFile, IdxRefusals) {
  const std::string name = "train-images-idx3-ubyte", data(6, '\0');
  EXPECT_TRUE(contains(refusal(name, "\x93NUMPY..."), "at byte 0: 0x934e554d where 0x00000803"));
  EXPECT_TRUE(contains(refusal(name, std::string("\0\0\x0d\1\0\0\0\1", 8) + data), "0x00000d01"));
  EXPECT_TRUE(contains(refusal(name, idx({}, data)), "0x00000800"));
  EXPECT_TRUE(contains(refusal(name, idx({2, 1, 3}, data).substr(0, 13)), "at byte 13: it ends"));
  EXPECT_TRUE(contains(refusal(name, ""), "at byte 0: it ends where its header goes on"));
  EXPECT_TRUE(contains(refusal(name, idx({2, 1, 3}, data + "x")),
                       "at byte 16: 6 entries of a byte are expected (2 x 1 x 3) and 7 bytes"));
  EXPECT_TRUE(contains(refusal(name, idx({2, 1, 4}, data)), "8 entries"));
  EXPECT_TRUE(contains(refusal(name, idx({2, 0, 3}, data)), "at byte 8: dimension 1 is 0"));
  EXPECT_TRUE(contains(refusal(name, idx({2, 0x80000000, 3}, data)), "dimension 1 is 2147483648"));
  // More than the memory of any machine: refused without taking it. The second wraps around.
  const std::uint32_t most = 0x7fffffff;
  EXPECT_TRUE(contains(refusal(name, idx({most, most, 3}, data)), "and 6 bytes are there"));
  EXPECT_TRUE(contains(refusal(name, idx({0x40000000, 0x40000000, 16}, data)), "and 6 bytes"));
  EXPECT_TRUE(contains(refusal("l-ubyte", idx({6}, data)), "labels"));
}

TEST_F(DataFile, NpyOfEveryKindOfNumber) {
  const DataSet data = read("a.npy", npy(NpyType::u1, {2, 3}, kBits));
  EXPECT_EQ(shown(data), kShown);
  EXPECT_EQ(data.shape, (Shape{3}));
  EXPECT_EQ(shown(read("a.npy", npy(NpyType::i8, {2, 3},
                                    std::vector<std::int64_t>(kBits.begin(), kBits.end())))),
            kShown);
  EXPECT_EQ(shown(read("a.npy",
                       npy(NpyType::f4, {2, 3}, std::vector<float>(kBits.begin(), kBits.end())))),
            kShown);
  EXPECT_EQ(read("a.npy", npy(NpyType::u1, {1, 3, 2}, kBits)).shape, (Shape{3, 2}));
}

TEST_F(DataFile, NpyRefusals) {
  const std::string good = npy(NpyType::u1, {2, 3}, kBits);
  EXPECT_TRUE(contains(refusal("a.npy", good + "x"), "has 1 bytes more"));
  EXPECT_TRUE(contains(refusal("a.npy", good.substr(0, good.size() - 1)), "shorter"));
  EXPECT_TRUE(contains(refusal("a.npy", "0 1 0\n"), "too short"));
  EXPECT_TRUE(contains(refusal("a.npy", npy(NpyType::u1, {6}, kBits)), "1 dimensions"));
  EXPECT_TRUE(contains(refusal("a.npy", npy_header(NpyType::u1, std::vector<std::uint64_t>{0, 3})),
                       "empty"));
  EXPECT_TRUE(
      contains(refusal("a.npy", npy_header(NpyType::u1, std::vector<std::uint64_t>{1ull << 62, 0})),
               "empty"));
  EXPECT_TRUE(
      contains(refusal("a.npy", npy(NpyType::f4, {2, 3}, std::vector<float>{0, 1, 1, 0, 0.5, 0})),
               "holds 0.5 in row 1, entry 1, where 0 or 1 is expected"));
  EXPECT_TRUE(contains(refusal("a.npy", npy(NpyType::i1, {1, 2}, std::vector<std::int8_t>{0, -1})),
                       "holds -1 in row 0, entry 1"));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(contains(refusal("a.npy", npy(NpyType::f8, {1, 2}, std::vector<double>{0, nan})),
                       "holds nan"));
}

// Spins as other programs write them: -1 and 1, never mixed with 0.
TEST_F(DataFile, SpinsAreBits) {
  const std::vector<std::int8_t> spins = {-1, 1, 1, -1, 1, -1};
  EXPECT_EQ(shown(read("a.npy", npy(NpyType::i1, {2, 3}, spins))), kShown);
  EXPECT_EQ(shown(read("a.csv", "-1,1,1\n-1,1,-1\n")), kShown);
  EXPECT_TRUE(contains(refusal("a.csv", "-1,1,0\n"), "'0' where -1 or 1 is expected"));
  EXPECT_TRUE(contains(refusal("a.csv", "1,0,-1\n"), "'-1' where 0 or 1 is expected"));
}

TEST_F(DataFile, NpyOfBooleans) {
  std::string bytes = npy(NpyType::u1, {2, 3}, kBits);
  const std::size_t type = bytes.find("|u1");
  ASSERT_NE(type, std::string::npos);
  bytes.replace(type, 3, "|b1");
  EXPECT_EQ(shown(read("a.npy", bytes)), kShown);
}

TEST_F(DataFile, NpzChoosesItsArray) {
  const std::string good = npy(NpyType::u1, {2, 3}, kBits);
  const std::string other = npy(NpyType::f8, {1}, std::vector<double>{7});
  EXPECT_EQ(shown(read("a.npz", npz({{"states.npy", good}}))), kShown);
  EXPECT_EQ(shown(read("a.npz", npz({{"y.npy", other}, {"x.npy", good}}))), kShown);
  EXPECT_EQ(shown(read("a.npz", npz({{"y.npy", other}, {"data.npy", good}}))), kShown);
  EXPECT_TRUE(contains(refusal("a.npz", npz({{"y.npy", other}, {"z.npy", good}})), "'y', 'z'"));
  EXPECT_TRUE(contains(refusal("a.npz", npz({})), "no arrays"));
  EXPECT_TRUE(contains(refusal("a.npz", npz({{"x.npy", other}})), "1 dimensions"));
}

TEST_F(DataFile, DrawsOfSaltusAreRows) {
  const std::string x = npy(NpyType::u1, {2, 1, 3}, kBits);
  const std::string logp = npy(NpyType::f8, {2, 1}, std::vector<double>{-1, -2});
  const DataSet draws = read("a.npz", npz({{"x.npy", x}, {"logp.npy", logp}}));
  EXPECT_EQ(shown(draws), kShown);
  EXPECT_EQ(draws.shape, (Shape{3}));
  EXPECT_EQ(read("a.npz", npz({{"x.npy", x}})).shape, (Shape{1, 3}));
}

TEST_F(DataFile, CsvWithAndWithoutNames) {
  EXPECT_EQ(shown(read("a.csv", "0,1,1\n0,1,0\n")), kShown);
  EXPECT_EQ(shown(read("a.csv", "a,b,c\n0,1,1\n0,1,0\n")), kShown);
  EXPECT_EQ(shown(read("a.csv",
                       "\xef\xbb\xbf"
                       "0,1,1\r\n0, 1 ,0")),
            kShown);
  EXPECT_EQ(shown(read("a.csv", "0.0,1.0,1e0\n\n0.000e+00,+1,0\n\n")), kShown);
  EXPECT_EQ(shown(read("a.csv", "0\n1\n")), "0/1");
  EXPECT_EQ(read("a.csv", "0,1,1\n").shape, (Shape{3}));
}

TEST_F(DataFile, AmatIsSeparatedByBlanks) {
  EXPECT_EQ(shown(read("a.amat", "0 1 1\n0 1 0\n")), kShown);
  EXPECT_EQ(shown(read("a.amat", " 0\t1  1 \r\n\n0 1 0 ")), kShown);
  EXPECT_EQ(read("a.amat", "0 1 1\n").shape, (Shape{3}));
}

TEST_F(DataFile, TextRefusals) {
  EXPECT_TRUE(contains(refusal("a.amat", "0 1 1\n0 2 0\n"),
                       "line 2: entry 1 is '2' where 0 or 1 is expected"));
  EXPECT_TRUE(contains(refusal("a.amat", "0 1 1\n0 1\n"), "line 2: it has 2 entries where 3"));
  EXPECT_TRUE(contains(refusal("a.amat", "0 1 1\n\n0 1 1 1\n"), "line 3: it has 4 entries"));
  EXPECT_TRUE(contains(refusal("a.amat", "a b\n0 1\n"), "line 1: entry 0 is 'a'"));
  EXPECT_TRUE(contains(refusal("a.amat", "0,1\n"), "line 1: entry 0 is '0,1'"));
  EXPECT_TRUE(contains(refusal("a.amat", "0 nan\n"), "'nan'"));
  EXPECT_TRUE(contains(refusal("a.amat", "0 1e400\n"), "'1e400'"));
  EXPECT_TRUE(contains(refusal("a.amat", "0 \x1b[2J" + std::string(100, 'x')), "'?[2Jxxx"));
  EXPECT_TRUE(contains(refusal("a.amat", ""), "no rows"));
  EXPECT_TRUE(contains(refusal("a.csv", "a,b,c\n"), "no rows"));
  EXPECT_TRUE(contains(refusal("a.csv", "a,b\n0,1,0\n"), "line 2: it has 3 entries where 2"));
  // One name among numbers is an error, not a line of names.
  EXPECT_TRUE(contains(refusal("a.csv", "O,1,0\n0,1,0\n"), "line 1: entry 0 is 'O'"));
  EXPECT_TRUE(contains(refusal("a.csv", "0,,1\n"), "line 1: entry 1 is ''"));
  EXPECT_TRUE(contains(refusal("a.csv", "0,1,\n"), "line 1: entry 2 is ''"));
  EXPECT_TRUE(contains(refusal("a.csv", "0,1,-1\n"), "'-1'"));
  EXPECT_TRUE(contains(refusal("a.csv", "0,1,0.5\n"), "'0.5'"));
}

TEST_F(DataFile, EveryFormatMayBePacked) {
  const std::string array = npy(NpyType::u1, {2, 3}, kBits);
  EXPECT_EQ(shown(read("a.npy.gz", gzipped(array))), kShown);
  EXPECT_EQ(shown(read("a.npz.gz", gzipped(npz({{"x.npy", array}})))), kShown);
  EXPECT_EQ(shown(read("a.csv.gz", gzipped("0,1,1\n0,1,0\n"))), kShown);
  EXPECT_EQ(shown(read("a.amat", gzipped("0 1 1\n0 1 0\n"))), kShown);
  EXPECT_EQ(shown(read("A.AMAT.GZ", gzipped("0 1 1\n") + gzipped("0 1 0\n"))), kShown);
  EXPECT_EQ(shown(read("a-ubyte.gz", gzipped(idx({1, 3}, "\1\xff\xff")))), "011");
}

TEST_F(DataFile, PackedFilesAreChecked) {
  std::string long_text;
  for (std::uint64_t i = 0; i < 400000; ++i) long_text += i * i % 7 < 3 ? "0 1\n" : "1 0\n";
  const std::string good = gzipped(long_text);
  EXPECT_EQ(read("a.amat.gz", good).rows.view().rows, 400000);
  for (const std::size_t n : {std::size_t{2}, std::size_t{9}, good.size() / 2, good.size() - 1}) {
    EXPECT_TRUE(contains(refusal("a.amat.gz", good.substr(0, n)),
                         "at byte " + std::to_string(n) + ": it ends too early"));
  }
  EXPECT_TRUE(
      contains(refusal("a.amat.gz", good + "garbage"), "at byte " + std::to_string(good.size())));
  std::string wrong = good;
  wrong[wrong.size() - 6] ^= 1;  // its checksum
  EXPECT_TRUE(contains(refusal("a.amat.gz", wrong), "data check"));
  EXPECT_TRUE(contains(refusal("a.amat.gz", gzipped("0 3\n")), "unpacked"));
}

TEST_F(DataFile, ContentTellsTheFormatOfOtherNames) {
  EXPECT_EQ(shown(read("a.txt", "0 1 1\n0 1 0\n")), kShown);
  EXPECT_EQ(shown(read("a", "0,1,1\n0,1,0\n")), kShown);
  EXPECT_EQ(shown(read("a", npy(NpyType::u1, {2, 3}, kBits))), kShown);
  EXPECT_EQ(shown(read("a.bin", npz({{"x.npy", npy(NpyType::u1, {2, 3}, kBits)}}))), kShown);
  EXPECT_EQ(shown(read("a.idx", idx({1, 3}, "\1\xff\xff"))), "011");
  EXPECT_TRUE(contains(refusal("a.mat", "MATLAB\1\2"), "known formats"));
  EXPECT_TRUE(contains(refusal("a", ""), "known formats"));
}

TEST_F(DataFile, FilesThatCannotBeReadAreFileErrors) {
  for (const char* name : {"missing.amat", "."}) {
    try {
      read_binary_data(folder_ / name);
      ADD_FAILURE() << name;
    } catch (const FileError& error) {
      EXPECT_FALSE(error.writing);
      EXPECT_TRUE(contains(error.what(), (folder_ / name).string()));
    }
  }
}

// Damage of any kind is refused, or gives rows of 0 and 1.
TEST_F(DataFile, SurvivesEveryTruncationAndByte) {
  const std::vector<std::pair<std::string, std::string>> files = {
      {"a.npz", npz({{"x.npy", npy(NpyType::u1, {2, 3}, kBits)}})},
      {"a-ubyte", idx({2, 1, 3}, std::string(6, '\xff'))},
      {"a.csv.gz", gzipped("0,1,1\n0,1,0\n")},
      {"a.csv", "0,1,1\n0,1,0\n"}};
  for (const auto& [name, good] : files) {
    const auto check = [&](const std::string& bytes) {
      succeeds([&] {
        const DataSet data = read(name, bytes);
        for (const char c : shown(data)) ASSERT_TRUE(c == '0' || c == '1' || c == '/');
      });
    };
    for (std::size_t n = 0; n < good.size(); ++n) check(good.substr(0, n));
    for (std::size_t at = 0; at < good.size(); ++at) {
      for (const int flip : {0x01, 0xff}) {
        std::string bad = good;
        bad[at] = static_cast<char>(bad[at] ^ flip);
        check(bad);
      }
    }
  }
}

}  // namespace
}  // namespace saltus
