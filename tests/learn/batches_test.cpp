#include "saltus/learn/batches.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "saltus/core/error.hpp"

namespace saltus {
namespace {

std::vector<int> rows(Batches& batches, std::uint64_t first, std::uint64_t count) {
  std::vector<int> list;
  for (std::uint64_t b = first; b < first + count; ++b) {
    const auto batch = batches.at(b);
    list.insert(list.end(), batch.begin(), batch.end());
  }
  return list;
}

bool is_permutation(std::vector<int> list) {
  std::sort(list.begin(), list.end());
  std::vector<int> all(list.size());
  std::iota(all.begin(), all.end(), 0);
  return list == all;
}

TEST(Batches, AnEpochHoldsEveryRowOnceInANewOrder) {
  Batches batches(60, 20, false, 7);
  const std::vector<int> first = rows(batches, 0, 3), second = rows(batches, 3, 3);
  EXPECT_TRUE(is_permutation(first));
  EXPECT_TRUE(is_permutation(second));
  EXPECT_NE(first, second);
  Batches other(60, 20, false, 8);
  EXPECT_NE(rows(other, 0, 3), first);
}

TEST(Batches, RowsThatDoNotFillABatchOpenTheNextEpoch) {
  Batches batches(50, 20, false, 7);
  const std::vector<int> list = rows(batches, 0, 5);  // two epochs
  EXPECT_TRUE(is_permutation({list.begin(), list.begin() + 50}));
  EXPECT_TRUE(is_permutation({list.begin() + 50, list.end()}));
  EXPECT_EQ(batches.iterations(1), 3u);
  EXPECT_EQ(batches.iterations(2), 5u);
  EXPECT_DOUBLE_EQ(batches.epochs(5), 2);
}

TEST(Batches, OrAreDropped) {
  Batches batches(50, 20, true, 7);
  Batches whole(50, 50, true, 7);
  const std::vector<int> list = rows(batches, 0, 4), order = rows(whole, 0, 2);
  EXPECT_TRUE(std::equal(list.begin(), list.begin() + 40, order.begin()));
  EXPECT_TRUE(std::equal(list.begin() + 40, list.end(), order.begin() + 50));
  EXPECT_EQ(batches.iterations(3), 6u);
  EXPECT_DOUBLE_EQ(batches.epochs(6), 3);
}

TEST(Batches, AreAFunctionOfTheIteration) {
  Batches batches(50, 20, false, 7), again(50, 20, false, 7);
  const std::vector<int> list = rows(batches, 0, 12);
  for (std::uint64_t b = 12; b-- > 0;) {
    const auto batch = again.at(b);
    EXPECT_TRUE(std::equal(batch.begin(), batch.end(), list.begin() + static_cast<int>(b) * 20));
  }
}

// Each of 6 rows comes first in a sixth of 6000 epochs: the counts have a standard deviation of
// 28.9.
TEST(Batches, EveryRowIsAsLikelyToComeFirst) {
  Batches batches(6, 6, false, 3);
  std::vector<int> first(6), last(6);
  for (std::uint64_t b = 0; b < 6000; ++b) {
    const auto batch = batches.at(b);
    ++first[static_cast<std::size_t>(batch[0])];
    ++last[static_cast<std::size_t>(batch[5])];
  }
  for (const int count : first) EXPECT_NEAR(count, 1000, 5 * 28.9);
  for (const int count : last) EXPECT_NEAR(count, 1000, 5 * 28.9);
}

TEST(Batches, RefuseWhatCannotBe) {
  EXPECT_THROW(Batches(10, 11, false, 1), UsageError);
  EXPECT_THROW(Batches(10, 0, false, 1), UsageError);
  EXPECT_THROW(Batches(0, 1, false, 1), UsageError);
}

}  // namespace
}  // namespace saltus
