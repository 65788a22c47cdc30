#include "diagnose/columns/passing_lag_sums.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "diagnose/columns/lag_sums.hpp"
#include "series.hpp"

namespace saltus {
namespace {

using Values = std::vector<double>;
using Sizes = std::vector<std::size_t>;

// The lag sums of the function `value` of the levels, by definition.
Values defined_sums(const Series& series, const Values& value, std::size_t lags) {
  Values sums(lags);
  for (const auto& chain : series) {
    Values x;
    for (const double level : chain) x.push_back(value[static_cast<std::size_t>(level)]);
    centre(x);
    for (std::size_t k = 0; k < lags; ++k) {
      for (std::size_t t = 0; t + k < x.size(); ++t) sums[k] += x[t] * x[t + k];
    }
  }
  return sums;
}

// One pass over all series, in blocks of the given size.
void pass(PassingLagSums& sums, const Series& series, std::size_t end, std::size_t block) {
  sums.begin_pass(end);
  for (const auto& chain : series) {
    const std::vector<Symbol> x(chain.begin(), chain.end());
    for (std::size_t t = 0; t < x.size(); t += block) {
      sums.add(std::span(x).subspan(t, std::min(block, x.size() - t)));
    }
    sums.end_sequence();
  }
  sums.end_pass();
}

void expect_sums(const Values& is, const Values& wanted) {
  ASSERT_EQ(is.size(), wanted.size());
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    ASSERT_NEAR(is[k], wanted[k], 1e-12 * wanted[0]) << "lag " << k;
  }
}

void expect_bits(const Series& series, Symbol threshold, const Sizes& ends, std::size_t block) {
  SCOPED_TRACE(std::to_string(series[0].size()) + " draws in blocks of " + std::to_string(block));
  Values indicator(7);
  std::fill_n(indicator.begin(), threshold + 1, 1.0);
  PassingBitSums sums(series[0].size(), threshold);
  for (const std::size_t end : ends) {
    pass(sums, series, end, block);
    const std::size_t lags = std::min(end, series[0].size());
    expect_sums(sums.sums(), defined_sums(series, indicator, lags));
  }
}

// Lengths around whole words, and around the words between two rounds of products (256 and the
// three or more that wait).
TEST(PassingBitSums, AgreeWithTheDefinition) {
  for (const int draws : {2, 3, 63, 64, 65, 127, 128, 129, 300, 64 * 256, 64 * 258, 64 * 259 - 1,
                          64 * 259, 64 * 259 + 1, 64 * 260 + 17}) {
    for (const Symbol threshold : std::vector<Symbol>{0, 2, 6}) {
      expect_bits(level_walk(7, 2, draws), threshold, {64}, 1000);
    }
  }
}

TEST(PassingBitSums, BlocksOfAnySizeAndFurtherPasses) {
  const Series series = level_walk(7, 3, 3001);
  for (const std::size_t block : Sizes{1, 7, 63, 64, 65, 200, 3001}) {
    expect_bits(series, 2, {64, 256, 300, 1024}, block);
  }
  expect_bits(series, 2, {1, 2, 63, 65, 128, 3001, 4000}, 100);
  // One entry follows the last word of a round of products.
  for (const int words : {256, 257, 258}) {
    expect_bits(level_walk(7, 2, 64 * words + 1), 2, {63, 65, 127}, 4096);
  }
}

// 1 is so rare, or so frequent, that products of uncentred values would lose most digits.
TEST(PassingBitSums, RareValuesKeepTheirDigits) {
  for (const double usual : {0.0, 1.0}) {
    Series series(1, Values(100000, usual));
    for (const std::size_t t : {5U, 6U, 70U, 50000U, 50063U, 99999U}) series[0][t] = 1 - usual;
    PassingBitSums sums(100000, 0);
    pass(sums, series, 64, 4096);
    // Common ones - m (ones that have a later entry + ones that have an earlier one) + pairs m^2.
    const double m = 6e-5;
    EXPECT_NEAR(sums.sums()[0], 6 - 12 * m + 100000 * m * m, 1e-14);
    EXPECT_NEAR(sums.sums()[1], 1 - 11 * m + 99999 * m * m, 1e-14);
    EXPECT_NEAR(sums.sums()[2], 0 - 11 * m + 99998 * m * m, 1e-14);
    EXPECT_NEAR(sums.sums()[63], 1 - 9 * m + 99937 * m * m, 1e-14);
  }
}

TEST(PassingBitSums, ConstantIsExactlyZero) {
  for (const double level : {0.0, 1.0}) {
    PassingBitSums sums(777, 0);
    pass(sums, Series(2, Values(777, level)), 64, 100);
    EXPECT_EQ(sums.sums(), Values(64, 0.0));
  }
}

// Products are made whenever 1024 entries and those that wait are there.
TEST(PassingScoreSums, AgreeWithTheDefinition) {
  const Values scores = {-1.5, -0.75, -0.25, 0, 0.5, 1, 3};
  for (const int draws : {2, 3, 63, 64, 65, 1000, 1087, 1088, 1089, 2112, 3000}) {
    const Series series = level_walk(7, 2, draws);
    Values means;
    for (const auto& chain : series) {
      Values x;
      for (const double level : chain) x.push_back(scores[static_cast<std::size_t>(level)]);
      means.push_back(centre(x));
    }
    for (const std::size_t block : Sizes{1, 64, 1000, 5000}) {
      SCOPED_TRACE(std::to_string(draws) + " draws in blocks of " + std::to_string(block));
      PassingScoreSums sums(series[0].size(), scores, means);
      for (const std::size_t end : Sizes{64, 256, 300}) {
        pass(sums, series, end, block);
        expect_sums(sums.sums(), defined_sums(series, scores, std::min(end, series[0].size())));
      }
    }
  }
}

}  // namespace
}  // namespace saltus
