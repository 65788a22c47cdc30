// Hidden tanh units over rows of data: vector passes against the scalar specification, at every
// instruction-set level of this machine.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "levels_of_ops.hpp"

namespace saltus::ops {
namespace {

const std::vector<int> kSizes = {1, 2, 15, 16, 17, 63, 64, 65, 250, 256};

// Uniform in +-scale; 0 beyond n.
std::vector<float> numbers(int n, float scale, std::uint32_t which) {
  const Stream s(23, which, 0, Purpose::check);
  std::vector<float> v(static_cast<std::size_t>(padded(n)));
  for (int i = 0; i < n; ++i) {
    v[static_cast<std::size_t>(i)] =
        scale * static_cast<float>(2 * s.uniform(static_cast<std::uint32_t>(i)) - 1);
  }
  return v;
}

std::vector<float> first(const std::vector<float>& v, int n) {
  return {v.begin(), v.begin() + n};
}

TEST(NetworkPasses, AgreeWithScalar) {
  for (const int n : kSizes) {
    for (const float scale : {0.01f, 2.0f, 60.0f}) {
      SCOPED_TRACE(testing::Message() << "n " << n << " scale " << scale);
      const std::vector<float> z = numbers(n, scale, 1), sum = numbers(n, 20, 2);
      std::vector<float> y = numbers(n, 1, 3);
      for (float& v : y) v = v > 0;
      struct Out {
        std::vector<float> unit, sum, slope, back;
        double squares;
        UnitSlopes sums;
      };
      const auto run = [&](Level level) {
        Out o{z, sum, std::vector<float>(z.size(), 9.0f), {}, 0, {}};
        ops(level).tanh_unit(n, 1.0f, -1.0f, o.unit.data(), o.sum.data());
        o.squares = ops(level).squared_errors(n, z.data(), y.data(), -3.0f, o.slope.data());
        EXPECT_EQ(ops(level).squared_errors(n, z.data(), y.data(), 1.0f, nullptr), o.squares);
        o.back = o.unit;
        o.sums = ops(level).tanh_unit_slopes(n, -1.0f, o.slope.data(), o.back.data());
        for (int r = n; r % kLanes != 0; ++r) EXPECT_EQ(o.slope[static_cast<std::size_t>(r)], 0);
        return o;
      };
      const Out exact = run(Level::scalar), base = run(Level::baseline);
      EXPECT_NEAR(base.squares, exact.squares, n * 1e-6);
      // Slopes are at most 3 * 0.15; sums of up to 16 of them in each lane.
      EXPECT_NEAR(base.sums.bias, exact.sums.bias, n * 2e-6);
      EXPECT_NEAR(base.sums.weight, exact.sums.weight, n * 2e-6);
      for (std::size_t r = 0; r < static_cast<std::size_t>(n); ++r) {
        ASSERT_NEAR(base.unit[r], exact.unit[r], 3e-7f) << z[r];
        ASSERT_NEAR(base.sum[r], exact.sum[r], 3e-6f);
        ASSERT_NEAR(base.slope[r], exact.slope[r], 2e-6f);
        ASSERT_NEAR(base.back[r], exact.back[r], 2e-6f);
      }
      for (const Level level : vector_levels()) {
        const Out out = run(level);
        EXPECT_EQ(first(out.unit, n), first(base.unit, n)) << name(level);
        EXPECT_EQ(first(out.sum, n), first(base.sum, n)) << name(level);
        EXPECT_EQ(first(out.slope, n), first(base.slope, n)) << name(level);
        EXPECT_EQ(first(out.back, n), first(base.back, n)) << name(level);
        EXPECT_EQ(out.squares, base.squares) << name(level);
        EXPECT_EQ(out.sums.bias, base.sums.bias) << name(level);
        EXPECT_EQ(out.sums.weight, base.sums.weight) << name(level);
      }
    }
  }
}

}  // namespace
}  // namespace saltus::ops
