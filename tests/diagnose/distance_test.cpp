#include "saltus/diagnose/distance.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace saltus {
namespace {

using Values = std::vector<double>;

TEST(Distance, RootMeanSquareError) {
  EXPECT_DOUBLE_EQ(rmse(Values{1, 2, 3, 4}, Values{2, 0, 3, 6}), 1.5);
  EXPECT_EQ(rmse(Values{0.3, 0.7}, Values{0.3, 0.7}), 0);
  EXPECT_TRUE(std::isnan(rmse(Values{}, Values{})));
}

TEST(Distance, SumOfAbsoluteDifferences) {
  EXPECT_DOUBLE_EQ(l1(Values{0.5, 0.25, 0.25}, Values{0.25, 0.25, 0.5}), 0.5);
  EXPECT_EQ(l1(Values{}, Values{}), 0);
}

TEST(Distance, TotalVariation) {
  EXPECT_DOUBLE_EQ(total_variation(Values{0.5, 0.25, 0.25}, Values{0.25, 0.25, 0.5}), 0.25);
  // Distributions without a common state are as far apart as can be.
  EXPECT_DOUBLE_EQ(total_variation(Values{1, 0, 0}, Values{0, 0.5, 0.5}), 1);
}

}  // namespace
}  // namespace saltus
