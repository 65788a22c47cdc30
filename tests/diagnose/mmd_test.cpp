#include "saltus/diagnose/mmd.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "saltus/core/error.hpp"
#include "saltus/core/philox.hpp"

namespace saltus {
namespace {

RowBuffer<Symbol> rows_of(const std::vector<std::string>& rows) {
  RowBuffer<Symbol> buffer(static_cast<int>(rows.size()), static_cast<int>(rows[0].size()));
  for (int r = 0; r < buffer.view().rows; ++r) {
    for (int i = 0; i < buffer.view().cols; ++i) {
      const char digit = rows[static_cast<std::size_t>(r)][static_cast<std::size_t>(i)];
      buffer.view()[r][i] = static_cast<Symbol>(digit - '0');
    }
  }
  return buffer;
}

// Levels 0, ..., levels - 1, less often the higher they are.
RowBuffer<Symbol> random_rows(int count, int dim, int levels, unsigned seed) {
  RowBuffer<Symbol> rows(count, dim);
  for (int r = 0; r < count; ++r) {
    const Stream stream(seed, static_cast<std::uint32_t>(r), 0, Purpose::check);
    for (int i = 0; i < dim; ++i) {
      const double u = stream.uniform(static_cast<std::uint32_t>(i));
      rows.view()[r][i] = static_cast<Symbol>(u * u * levels);
    }
  }
  return rows;
}

double kernel(Rows<const Symbol> a, int r, Rows<const Symbol> b, int s) {
  double differ = 0;
  for (int i = 0; i < a.cols; ++i) differ += a[r][i] != b[s][i];
  return std::exp(-differ / a.cols);
}

// The mean of k over pairs of rows, with or without those of equal number.
double mean_kernel(Rows<const Symbol> a, Rows<const Symbol> b, bool equal) {
  double sum = 0;
  int count = 0;
  for (int r = 0; r < a.rows; ++r) {
    for (int s = 0; s < b.rows; ++s) {
      if (!equal && r == s) continue;
      sum += kernel(a, r, b, s);
      ++count;
    }
  }
  return sum / count;
}

void expect_brute_force(Rows<const Symbol> x, Rows<const Symbol> y) {
  const Mmd mmd = mmd_squared(x, y);
  const double between = 2 * mean_kernel(x, y, true);
  EXPECT_NEAR(mmd.v_statistic, mean_kernel(x, x, true) + mean_kernel(y, y, true) - between, 1e-13);
  EXPECT_NEAR(mmd.u_statistic, mean_kernel(x, x, false) + mean_kernel(y, y, false) - between,
              1e-13);
  const Mmd swapped = mmd_squared(y, x);
  EXPECT_NEAR(mmd.v_statistic, swapped.v_statistic, 1e-15);
  EXPECT_NEAR(mmd.u_statistic, swapped.u_statistic, 1e-15);
}

TEST(Mmd, OfASmallExample) {
  const Mmd mmd =
      mmd_squared(rows_of({"0011", "1010"}).view(), rows_of({"0000", "1111", "0110"}).view());
  EXPECT_NEAR(mmd.v_statistic, 0.2748575128, 5e-11);
  EXPECT_NEAR(std::log(mmd.v_statistic), -1.2915024509, 5e-11);
}

// Rows of 0 and 1 are packed into words: also those that do not fill the last word, or fill it.
TEST(Mmd, OfBitsIsThatOfTheDefinition) {
  for (const int dim : {1, 5, 63, 64, 65, 128, 200, 784}) {
    SCOPED_TRACE(dim);
    expect_brute_force(random_rows(7, dim, 2, 1).view(), random_rows(11, dim, 2, 2).view());
  }
}

TEST(Mmd, OfSymbolsIsThatOfTheDefinition) {
  const auto bits = random_rows(7, 70, 2, 1), levels = random_rows(11, 70, 5, 2);
  expect_brute_force(random_rows(6, 70, 4, 3).view(), levels.view());
  expect_brute_force(bits.view(), levels.view());
}

TEST(Mmd, OneReferenceServesManySets) {
  const auto y = random_rows(20, 100, 2, 5);
  const MmdReference reference(y.view());
  EXPECT_NEAR(reference.mean_kernel(), mean_kernel(y.view(), y.view(), false), 1e-14);
  for (unsigned seed = 6; seed < 9; ++seed) {
    const auto x = random_rows(9, 100, 2, seed);
    EXPECT_EQ(reference.squared(x.view()).v_statistic, mmd_squared(x.view(), y.view()).v_statistic);
  }
  EXPECT_NEAR(reference.squared(y.view()).v_statistic, 0, 1e-15);
}

TEST(Mmd, OfOneRowHasNoUStatistic) {
  const auto x = rows_of({"0101"}), y = rows_of({"0000", "1111"});
  EXPECT_TRUE(std::isnan(mmd_squared(x.view(), y.view()).u_statistic));
  EXPECT_TRUE(std::isnan(mmd_squared(y.view(), x.view()).u_statistic));
  // Both pairs differ in 2 of 4 entries.
  EXPECT_NEAR(mmd_squared(x.view(), y.view()).v_statistic,
              1 + (1 + std::exp(-1)) / 2 - 2 * std::exp(-0.5), 1e-15);
}

TEST(Mmd, RefusesWhatCannotBeCompared) {
  const auto x = rows_of({"0101"}), y = rows_of({"00000"});
  EXPECT_THROW(mmd_squared(x.view(), y.view()), UsageError);
  EXPECT_THROW(mmd_squared(Rows<const Symbol>{}, y.view()), UsageError);
  EXPECT_THROW(MmdReference(Rows<const Symbol>{}), UsageError);
}

// Independent fair bits: E k = ((1 + exp(-1/d)) / 2)^d. The averages over 400 pairs of sets have
// standard errors of about 1e-4.
TEST(Mmd, AveragesAreTheFloorAndZero) {
  constexpr int kPairs = 400, kDim = 20, kX = 10, kY = 30;
  double v = 0, v2 = 0, u = 0, u2 = 0;
  for (unsigned pair = 0; pair < kPairs; ++pair) {
    RowBuffer<Symbol> all(kX + kY, kDim);
    for (int r = 0; r < kX + kY; ++r) {
      const Stream stream(pair, static_cast<std::uint32_t>(r), 1, Purpose::check);
      for (int i = 0; i < kDim; ++i) {
        all.view()[r][i] = stream.uniform(static_cast<std::uint32_t>(i)) < 0.5;
      }
    }
    const Rows<Symbol> rows = all.view();
    const Mmd mmd = mmd_squared(Rows<const Symbol>{rows[0], kX, kDim, rows.stride},
                                Rows<const Symbol>{rows[kX], kY, kDim, rows.stride});
    v += mmd.v_statistic / kPairs;
    v2 += mmd.v_statistic * mmd.v_statistic / kPairs;
    u += mmd.u_statistic / kPairs;
    u2 += mmd.u_statistic * mmd.u_statistic / kPairs;
  }
  const double mean = std::pow((1 + std::exp(-1.0 / kDim)) / 2, kDim);
  EXPECT_NEAR(v, mmd_floor(kX, kY, mean), 4.5 * std::sqrt((v2 - v * v) / kPairs));
  EXPECT_NEAR(u, 0, 4.5 * std::sqrt((u2 - u * u) / kPairs));
  EXPECT_GT(v, 10 * std::sqrt((v2 - v * v) / kPairs));
}

TEST(Mmd, FloorOfTheDefinition) {
  EXPECT_DOUBLE_EQ(mmd_floor(100, 500, 0.86), 0.012 * 0.14);
}

}  // namespace
}  // namespace saltus
