#include "io/bytes/zip.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include "test_files.hpp"

namespace saltus {
namespace {

using Members = std::vector<std::pair<std::string, std::string>>;

const Members kMembers = {
    {"first", "some text"}, {"empty", ""}, {"third.npy", std::string(300, 'x')}};

std::string archive(const Members& members, std::uint64_t zip64_from = ZipWriter::kZip64From) {
  OutputFile out = OutputFile::unnamed("test.npz");
  ZipWriter zip(out, zip64_from);
  for (const auto& [name, content] : members) {
    zip.begin(name, content.size());
    // In two parts, as a stream comes.
    zip.append(content.substr(0, content.size() / 2));
    zip.append(content.substr(content.size() / 2));
    zip.end();
  }
  zip.finish();
  return content_of(out.reopen());
}

std::string member_of(const std::string& bytes, const std::string& name) {
  return content_of(ZipReader(file_of(bytes).file).open(name));
}

std::string refusal(const std::string& bytes, const std::string& name) {
  return data_error([&] { member_of(bytes, name); });
}

std::string deflated(const std::string& content) {
  z_stream stream = {};
  EXPECT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string packed(deflateBound(&stream, content.size()), '\0');
  std::string copy = content;
  stream.next_in = reinterpret_cast<Bytef*>(copy.data());
  stream.avail_in = static_cast<uInt>(copy.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

constexpr std::size_t kEntryMethod = 10, kEntryCrc = 16, kEntrySize = 24, kEntryOffset = 42;

void set(std::string& bytes, std::size_t at, std::uint64_t value, int count) {
  std::string text;
  zip::put(text, value, count);
  bytes.replace(at, text.size(), text);
}

std::size_t directory_of(const std::string& bytes) {
  return bytes.find("PK\1\2");
}

// An archive of one deflated member, made from the writer's by changing its entry.
std::string deflated_archive(const std::string& content, std::uint64_t claimed_size) {
  std::string bytes = archive({{"m", deflated(content)}});
  const std::size_t entry = directory_of(bytes);
  const uLong crc = crc32_z(0, reinterpret_cast<const Bytef*>(content.data()), content.size());
  set(bytes, entry + kEntryMethod, zip::kDeflated, 2);
  set(bytes, entry + kEntryCrc, crc, 4);
  set(bytes, entry + kEntrySize, claimed_size, 4);
  return bytes;
}

TEST(Zip, MembersRoundTrip) {
  const std::string bytes = archive(kMembers);
  for (const auto& [name, content] : kMembers) EXPECT_EQ(member_of(bytes, name), content);
  EXPECT_FALSE(ZipReader(file_of(bytes).file).has("fourth"));
  EXPECT_EQ(bytes.find("PK\6\6"), std::string::npos);
}

TEST(Zip, ACommentBehindTheDirectoryIsSkipped) {
  std::string bytes = archive(kMembers);
  set(bytes, bytes.size() - 2, 5, 2);
  EXPECT_EQ(member_of(bytes + "hello", "first"), "some text");
}

TEST(Zip, Zip64IsWrittenFromTheThresholdOn) {
  const std::string bytes = archive(kMembers, 200);
  for (const auto& [name, content] : kMembers) EXPECT_EQ(member_of(bytes, name), content);
  // The third member is long; the directory starts late; the rest stays in the plain form.
  const std::size_t third = bytes.find("third.npy") - zip::kLocalHeaderBytes;
  EXPECT_EQ(zip::get32(bytes, 18), kMembers[0].second.size());
  EXPECT_EQ(zip::get32(bytes, third + 18), zip::kSee64);
  EXPECT_EQ(zip::get32(bytes, third + 22), zip::kSee64);
  EXPECT_EQ(zip::get16(bytes, third + 28), 20u);
  EXPECT_EQ(zip::get(bytes, third + 30 + 9 + 4, 8), 300u);
  EXPECT_EQ(zip::get(bytes, third + 30 + 9 + 12, 8), 300u);
  const std::size_t end = bytes.size() - zip::kDirectoryEndBytes;
  const std::size_t locator = end - zip::kZip64LocatorBytes;
  EXPECT_EQ(zip::get32(bytes, end + 16), zip::kSee64);
  EXPECT_EQ(zip::get32(bytes, locator), zip::kZip64Locator);
  const std::size_t end64 = zip::get(bytes, locator + 8, 8);
  EXPECT_EQ(end64 + zip::kZip64DirectoryEndBytes, locator);
  EXPECT_EQ(zip::get(bytes, end64 + 32, 8), 3u);
  EXPECT_EQ(zip::get(bytes, end64 + 48, 8), directory_of(bytes));
}

TEST(Zip, Zip64EverywhereRoundTrips) {
  const std::string bytes = archive(kMembers, 0);
  for (const auto& [name, content] : kMembers) EXPECT_EQ(member_of(bytes, name), content);
  const std::size_t entry = directory_of(bytes);
  EXPECT_EQ(zip::get32(bytes, entry + kEntryOffset), zip::kSee64);
  EXPECT_EQ(zip::get16(bytes, entry + 30), 28u);  // two sizes and an offset
}

TEST(Zip, DeflatedMembersAreInflated) {
  // More than one block of input and of output, and output that is far larger than its input.
  std::string noise;
  unsigned state = 1;
  for (int i = 0; i < 700000; ++i) {
    state = state * 1664525u + 1013904223u;
    noise += static_cast<char>(state >> 24);
  }
  for (const std::string& content :
       {std::string(), std::string("abc"), noise, std::string(3000000, 'z')}) {
    EXPECT_EQ(member_of(deflated_archive(content, content.size()), "m"), content);
  }
}

TEST(Zip, DeflatedMembersMustKeepTheirWord) {
  const std::string content(100000, 'z');
  const std::string sound = deflated_archive(content, content.size());
  for (const std::uint64_t claim : {0ul, 99999ul, 100001ul, 4000000000ul}) {
    EXPECT_TRUE(contains(refusal(deflated_archive(content, claim), "m"), "checksum")) << claim;
  }
  std::string other = sound;
  set(other, directory_of(other) + kEntryCrc, 12345, 4);
  EXPECT_TRUE(contains(refusal(other, "m"), "checksum"));
  std::string cut = sound;
  set(cut, directory_of(cut) + 20, deflated(content).size() - 3, 4);  // packed size
  EXPECT_TRUE(contains(refusal(cut, "m"), "checksum"));
  for (std::size_t at = 31; at < 31 + deflated(content).size(); ++at) {
    std::string bad = sound;
    bad[at] = static_cast<char>(~bad[at]);
    refusal(bad, "m");
  }
}

TEST(Zip, ChangedContentIsNoticed) {
  for (const std::size_t at : {35u, 37u, 43u}) {
    std::string bytes = archive(kMembers);
    bytes[at] = '?';
    EXPECT_TRUE(contains(refusal(bytes, "first"), "checksum"));
  }
}

TEST(Zip, MembersMustLieInTheFile) {
  for (const std::uint64_t bad : {0xfffffffeul, 100000ul, 1ul}) {
    std::string bytes = archive(kMembers);
    set(bytes, directory_of(bytes) + kEntryOffset, bad, 4);
    refusal(bytes, "first");
    bytes = archive(kMembers);
    set(bytes, directory_of(bytes) + 20, bad, 4);
    set(bytes, directory_of(bytes) + kEntrySize, bad, 4);
    refusal(bytes, "first");
  }
  // 64-bit numbers that wrap around when they are added carelessly.
  std::string bytes = archive(kMembers, 0);
  const std::size_t extra = directory_of(bytes) + zip::kDirectoryEntryBytes + 5 + 4;
  set(bytes, extra + 8, ~std::uint64_t{0} - 10, 8);
  set(bytes, extra, ~std::uint64_t{0} - 10, 8);
  EXPECT_TRUE(contains(refusal(bytes, "first"), "outside"));
  bytes = archive(kMembers, 0);
  set(bytes, bytes.find("PK\6\6") + 48, ~std::uint64_t{0} - 10, 8);
  EXPECT_TRUE(contains(refusal(bytes, "first"), "outside"));
}

TEST(Zip, OtherMethodsAreRefused) {
  std::string bytes = archive(kMembers);
  set(bytes, directory_of(bytes) + kEntryMethod, 12, 2);
  EXPECT_TRUE(contains(refusal(bytes, "first"), "deflate"));
  bytes = archive(kMembers);
  set(bytes, directory_of(bytes) + 8, 1, 2);
  EXPECT_TRUE(contains(refusal(bytes, "first"), "encrypted"));
}

TEST(Zip, EveryTruncationIsRefused) {
  for (const std::uint64_t threshold : {ZipWriter::kZip64From, std::uint64_t{0}}) {
    const std::string bytes = archive(kMembers, threshold);
    for (std::size_t n = 0; n < bytes.size(); ++n) refusal(bytes.substr(0, n), "first");
  }
}

TEST(Zip, SurvivesEveryChangedByte) {
  for (const std::uint64_t threshold : {ZipWriter::kZip64From, std::uint64_t{0}}) {
    const std::string bytes = archive(kMembers, threshold);
    for (std::size_t at = 0; at < bytes.size(); ++at) {
      for (const int flip : {0x01, 0x80, 0xff}) {
        std::string bad = bytes;
        bad[at] = static_cast<char>(bad[at] ^ flip);
        for (const auto& [name, content] : kMembers) {
          std::string got;
          if (succeeds([&] { got = member_of(bad, name); })) {
            ASSERT_EQ(got, content) << at;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace saltus
