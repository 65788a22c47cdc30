// Orders that numpy.random.RandomState(seed).permutation(n) gave, NumPy 1.24.
#include "io/data/byte_rows.hpp"

#include <gtest/gtest.h>

namespace saltus {
namespace {

using Order = std::vector<std::int32_t>;

TEST(NumpyShuffle, SmallOrders) {
  EXPECT_EQ(numpy_permutation(78712, 10), (Order{6, 4, 8, 2, 5, 7, 1, 9, 0, 3}));
  EXPECT_EQ(numpy_permutation(42, 10), (Order{8, 1, 5, 0, 7, 2, 9, 4, 3, 6}));
  EXPECT_EQ(numpy_permutation(0, 17),
            (Order{1, 6, 8, 9, 13, 4, 2, 14, 10, 7, 16, 11, 3, 0, 5, 15, 12}));
  EXPECT_EQ(numpy_permutation(4294967295u, 16),
            (Order{8, 1, 5, 11, 9, 14, 15, 13, 10, 6, 0, 4, 7, 12, 2, 3}));
  EXPECT_EQ(numpy_permutation(78712, 1), (Order{0}));
  EXPECT_EQ(numpy_permutation(78712, 0), Order{});
}

std::int64_t weighted_sum(const Order& order) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < order.size(); ++i) sum += order[i] * static_cast<std::int64_t>(i);
  return sum;
}

TEST(NumpyShuffle, LongOrders) {
  const Order compas = numpy_permutation(78712, 6172);
  EXPECT_EQ(Order(compas.begin(), compas.begin() + 5), (Order{331, 3921, 5995, 2092, 2698}));
  EXPECT_EQ(weighted_sum(compas), 58854298748);
  const Order news = numpy_permutation(42, 39644);
  EXPECT_EQ(Order(news.end() - 3, news.end()), (Order{38158, 860, 15795}));
  EXPECT_EQ(weighted_sum(news), 15582115919038);
}

}  // namespace
}  // namespace saltus
