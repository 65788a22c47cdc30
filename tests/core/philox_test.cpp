#include "saltus/core/philox.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

#if __has_include(<Random123/philox.h>)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wconversion"
#include <Random123/philox.h>
#pragma GCC diagnostic pop
#define SALTUS_TEST_RANDOM123 1
#endif

namespace saltus {
namespace {

// Known answers published with Random123 for philox4x32-10.
TEST(Philox, KnownAnswers) {
  EXPECT_EQ(philox_block({0, 0, 0, 0}, {0, 0}),
            (PhiloxBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  const std::uint32_t ones = 0xffffffff;
  EXPECT_EQ(philox_block({ones, ones, ones, ones}, {ones, ones}),
            (PhiloxBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(
      philox_block({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
      (PhiloxBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

#ifdef SALTUS_TEST_RANDOM123
TEST(Philox, AgreesWithRandom123) {
  r123::Philox4x32 reference;
  for (std::uint32_t i = 0; i < 1000; ++i) {
    const PhiloxBlock c = {i, i * 2654435761u, ~i, i << 7};
    const auto expected = reference({{c[0], c[1], c[2], c[3]}}, {{i * 97u, i ^ 0x5bd1e995u}});
    const PhiloxBlock got = philox_block(c, {i * 97u, i ^ 0x5bd1e995u});
    for (std::size_t w = 0; w < 4; ++w) ASSERT_EQ(got[w], expected[w]) << i;
  }
}
#endif

TEST(Stream, EveryCoordinateHasItsOwnWord) {
  std::set<std::uint32_t> seen;
  const Stream s(7, 3, 11, Purpose::propose);
  for (std::uint32_t i = 0; i < 4096; ++i) seen.insert(s.word(i));
  EXPECT_GE(seen.size(), 4094u);  // 4096^2 / 2^33 collisions expected: 0.002
}

TEST(Stream, WordsFollowTheDocumentedLayout) {
  const Stream s(1, 2, 3, Purpose::propose);
  for (std::uint32_t i : {0u, 15u, 16u, 63u, 64u, 100u, 1000u}) {
    const std::uint32_t block = i / 64 * 16 + i % 16;
    EXPECT_EQ(s.word(i), s.block(block)[i / 16 % 4]);
  }
}

TEST(Stream, BlocksCoverTheCoordinatesOnce) {
  const Stream s(1, 2, 3, Purpose::propose);
  std::set<int> covered;
  for (int b = 0; b < Stream::blocks_for(200); ++b) {
    for (int w = 0; w < 4; ++w) {
      const int i = Stream::first_coordinate(b) + 16 * w;
      EXPECT_TRUE(covered.insert(i).second);
      EXPECT_EQ(s.block(static_cast<std::uint32_t>(b))[static_cast<std::size_t>(w)],
                s.word(static_cast<std::uint32_t>(i)));
    }
  }
  EXPECT_EQ(covered.size(), 256u);
  EXPECT_EQ(*covered.rbegin(), 255);
}

TEST(Stream, DependsOnEverything) {
  const std::uint32_t base = Stream(1, 2, 3, Purpose::propose).word(5);
  EXPECT_NE(base, Stream(2, 2, 3, Purpose::propose).word(5));
  EXPECT_NE(base, Stream(1 | (1ull << 40), 2, 3, Purpose::propose).word(5));
  EXPECT_NE(base, Stream(1, 3, 3, Purpose::propose).word(5));
  EXPECT_NE(base, Stream(1, 2, 4, Purpose::propose).word(5));
  EXPECT_NE(base, Stream(1, 2, 3 | (1ull << 33), Purpose::propose).word(5));
  EXPECT_NE(base, Stream(1, 2, 3, Purpose::accept).word(5));
  EXPECT_EQ(base, Stream(1, 2, 3, Purpose::propose).word(5));
}

// Mean of n uniforms: 1/2 with standard deviation 1/sqrt(12 n); five of them.
TEST(Stream, UniformHasTheRightMeanAndStaysInside) {
  double sum = 0;
  const int n = 100000;
  for (int i = 0; i < n; ++i) {
    const double u = Stream(9, static_cast<std::uint32_t>(i), 0, Purpose::accept).uniform();
    ASSERT_GT(u, 0);
    ASSERT_LT(u, 1);
    sum += u;
  }
  EXPECT_NEAR(sum / n, 0.5, 5 / std::sqrt(12.0 * n));
}

}  // namespace
}  // namespace saltus
