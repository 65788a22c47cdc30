// Common bits of two sequences: every level against counting them one by one.
#include <gtest/gtest.h>

#include <vector>

#include "ops/ops.hpp"

namespace saltus::ops {
namespace {

// `dense`: mostly ones, so that counts are as large as they get.
std::vector<std::uint64_t> random_words(std::size_t count, std::uint32_t chain, bool dense) {
  const Stream stream(7, chain, 0, Purpose::check);
  std::vector<std::uint64_t> words;
  for (std::uint32_t k = 0; k < count; ++k) {
    const std::uint64_t word = std::uint64_t{stream.word(2 * k)} << 32 | stream.word(2 * k + 1);
    words.push_back(dense && k % 3 ? ~std::uint64_t{0} : word);
  }
  return words;
}

bool bit(const std::vector<std::uint64_t>& words, std::size_t t) {
  return words[t / 64] >> (t % 64) & 1;
}

TEST(CommonBits, EveryLevelCountsThem) {
  for (const std::size_t count : {0u, 1u, 7u, 8u, 9u, 31u, 64u, 248u, 249u, 256u, 515u}) {
    const auto x = random_words(count, 1, true), y = random_words(count + 1, 2, true);
    for (const unsigned shift : {0u, 1u, 17u, 63u}) {
      std::uint64_t expected = 0;
      for (std::size_t t = 0; t < 64 * count; ++t) expected += bit(x, t) && bit(y, t + shift);
      for (const Level level : levels()) {
        EXPECT_EQ(ops(level).common_bits(x.data(), y.data(), count, shift), expected)
            << count << " words moved by " << shift;
      }
    }
  }
}

}  // namespace
}  // namespace saltus::ops
