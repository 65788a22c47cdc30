#include "report/plot.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace saltus::report {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Series counted_series(std::size_t n) {
  Series s;
  s.x.resize(n);
  std::iota(s.x.begin(), s.x.end(), 0.0);
  s.y.resize(n);
  for (std::size_t i = 0; i < n; ++i) s.y[i] = std::sin(static_cast<double>(i) / 50);
  return s;
}

TEST(Box, FiveNumbers) {
  const Box box = box_of({5, 1, 4, 2, 3});
  EXPECT_EQ(box.low, 1);
  EXPECT_EQ(box.q1, 2);
  EXPECT_EQ(box.median, 3);
  EXPECT_EQ(box.q3, 4);
  EXPECT_EQ(box.high, 5);
  EXPECT_TRUE(box.outliers.empty());
}

TEST(Box, QuartilesInterpolate) {
  const Box box = box_of({0, 1, 2, 3});
  EXPECT_EQ(box.q1, 0.75);
  EXPECT_EQ(box.median, 1.5);
  EXPECT_EQ(box.q3, 2.25);
}

TEST(Box, WhiskersEndWithinReach) {
  // The box is [2, 4], so a whisker reaches 7 at most.
  const Box box = box_of({1, 2, 3, 4, 100});
  EXPECT_EQ(box.high, 4);
  EXPECT_EQ(box.outliers, std::vector<double>{100});
}

TEST(Box, LeavesOutWhatIsNotFinite) {
  EXPECT_EQ(box_of({kNan, 7, std::numeric_limits<double>::infinity()}).median, 7);
  EXPECT_TRUE(std::isnan(box_of({kNan}).median));
  EXPECT_TRUE(std::isnan(box_of({}).low));
}

TEST(Box, FewOfManyOutliersWithTheExtremes) {
  std::vector<double> values(1000, 0.0);
  for (int i = 1; i <= 100; ++i) values.push_back(i);
  const Box box = box_of(values, 5);
  ASSERT_EQ(box.outliers.size(), 5U);
  EXPECT_EQ(box.outliers.front(), 1);
  EXPECT_EQ(box.outliers.back(), 100);
}

TEST(Thin, KeepsPeaksAndEnds) {
  Series s = counted_series(100000);
  s.y[54321] = 9;
  s.y[12345] = -9;
  s.low = s.high = s.y;
  thin(s, 1000);
  EXPECT_LE(s.y.size(), 1002U);
  EXPECT_GE(s.y.size(), 500U);
  EXPECT_TRUE(std::is_sorted(s.x.begin(), s.x.end()));
  EXPECT_EQ(s.x.front(), 0);
  EXPECT_EQ(s.x.back(), 99999);
  EXPECT_NE(std::find(s.y.begin(), s.y.end(), 9), s.y.end());
  EXPECT_NE(std::find(s.y.begin(), s.y.end(), -9), s.y.end());
  EXPECT_EQ(s.low, s.y);
  EXPECT_EQ(s.high, s.y);
  for (std::size_t i = 0; i < s.y.size(); ++i) {
    if (std::abs(s.y[i]) < 9) {
      EXPECT_EQ(s.y[i], std::sin(s.x[i] / 50));
    }
  }
}

TEST(Thin, LeavesShortSeries) {
  Series s = counted_series(100);
  thin(s, 100);
  EXPECT_EQ(s.x.size(), 100U);
}

TEST(Thin, PassesNumbersThatAreNone) {
  Series s = counted_series(1000);
  std::fill(s.y.begin() + 300, s.y.begin() + 600, kNan);
  s.y[450] = 5;
  thin(s, 20);
  EXPECT_NE(std::find(s.y.begin(), s.y.end(), 5), s.y.end());
  EXPECT_TRUE(std::any_of(s.y.begin(), s.y.end(), [](double v) { return std::isnan(v); }));
}

TEST(EvenlySpread, EndsIncluded) {
  EXPECT_EQ(evenly_spread(5, 10), (std::vector<std::size_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(evenly_spread(101, 3), (std::vector<std::size_t>{0, 50, 100}));
  EXPECT_EQ(evenly_spread(7, 1), (std::vector<std::size_t>{0}));
  EXPECT_TRUE(evenly_spread(0, 3).empty());
  EXPECT_TRUE(evenly_spread(3, 0).empty());
}

}  // namespace
}  // namespace saltus::report
