#include "saltus/learn/replay_buffer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "saltus/core/error.hpp"

namespace saltus {
namespace {

Independent halves(int dim) {
  return Independent::uniform(Domain::binary(dim));
}

TEST(ReplayBuffer, ChoosesWithoutReplacement) {
  const ReplayBuffer buffer(50, halves(3), 7);
  for (std::uint64_t iteration = 0; iteration < 200; ++iteration) {
    const auto chosen = buffer.choose(iteration, 20);
    EXPECT_EQ(std::set<std::int32_t>(chosen.begin(), chosen.end()).size(), 20u);
    EXPECT_GE(*std::min_element(chosen.begin(), chosen.end()), 0);
    EXPECT_LT(*std::max_element(chosen.begin(), chosen.end()), 50);
  }
  auto all = buffer.choose(3, 50);
  std::sort(all.begin(), all.end());
  for (int e = 0; e < 50; ++e) EXPECT_EQ(all[static_cast<std::size_t>(e)], e);
}

TEST(ReplayBuffer, ChoiceIsAFunctionOfSeedAndIteration) {
  const ReplayBuffer one(100, halves(3), 7), same(100, halves(3), 7), other(100, halves(3), 8);
  EXPECT_EQ(one.choose(5, 10), same.choose(5, 10));
  EXPECT_NE(one.choose(5, 10), one.choose(6, 10));
  EXPECT_NE(one.choose(5, 10), other.choose(5, 10));
  const auto more = one.choose(5, 30);
  EXPECT_TRUE(std::equal(more.begin(), more.begin() + 10, one.choose(5, 10).begin()));
}

// Every entry is as likely as any other: counts over 3000 iterations are binomial, and their
// chi-square, nearly that of 39 degrees of freedom times 3/4 (without replacement), is far from 90.
TEST(ReplayBuffer, ChoosesAllEntriesAlike) {
  const ReplayBuffer buffer(40, halves(3), 1);
  std::vector<double> counts(40);
  for (std::uint64_t iteration = 0; iteration < 3000; ++iteration) {
    for (const std::int32_t e : buffer.choose(iteration, 10)) ++counts[static_cast<std::size_t>(e)];
  }
  double chi_square = 0;
  for (const double n : counts) chi_square += (n - 750) * (n - 750) / 750;
  EXPECT_LT(chi_square, 70);
  EXPECT_GT(chi_square, 8);
}

TEST(ReplayBuffer, StartsFromTheBase) {
  const std::vector<double> upper = {0.1, 0.5, 0.98};
  const ReplayBuffer buffer(20'000, Independent::bernoulli(Domain::binary(3), upper), 3);
  RowBuffer<Symbol> rows(20'000, 3);
  buffer.get(buffer.choose(0, 20'000), rows.view());
  for (int i = 0; i < 3; ++i) {
    double mean = 0;
    for (int r = 0; r < 20'000; ++r) mean += rows.view()[r][i] / 20'000.0;
    const double p = upper[static_cast<std::size_t>(i)];
    EXPECT_NEAR(mean, p, 5 * std::sqrt(p * (1 - p) / 20'000));
  }
}

TEST(ReplayBuffer, KeepsWhatIsPut) {
  ReplayBuffer buffer(10, halves(4), 1);
  RowBuffer<Symbol> before(10, 4), put(2, 4), after(10, 4);
  std::vector<std::int32_t> all(10);
  for (int e = 0; e < 10; ++e) all[static_cast<std::size_t>(e)] = e;
  buffer.get(all, before.view());
  for (int i = 0; i < 4; ++i) {
    put.view()[0][i] = 1 - before.view()[7][i];
    put.view()[1][i] = 1 - before.view()[2][i];
  }
  const std::vector<std::int32_t> which = {7, 2};
  buffer.put(which, put.view());

  ByteWriter out;
  buffer.save(out);
  ReplayBuffer again(10, halves(4), 99);
  ByteReader in(out.bytes());
  again.restore(in);
  EXPECT_TRUE(in.empty());
  again.get(all, after.view());
  for (int e = 0; e < 10; ++e) {
    for (int i = 0; i < 4; ++i) {
      const bool moved = e == 7 || e == 2;
      EXPECT_EQ(after.view()[e][i], moved ? 1 - before.view()[e][i] : before.view()[e][i]);
    }
  }
}

TEST(ReplayBuffer, Refuses) {
  EXPECT_THROW(ReplayBuffer(0, halves(2), 1), UsageError);
  EXPECT_THROW(ReplayBuffer(3, Independent::uniform(Domain::ordered(2, 300)), 1), UsageError);
  ByteWriter out;
  ReplayBuffer(5, halves(2), 1).save(out);
  ReplayBuffer other(6, halves(2), 1);
  ByteReader in(out.bytes());
  EXPECT_THROW(other.restore(in), DataError);
}

}  // namespace
}  // namespace saltus
