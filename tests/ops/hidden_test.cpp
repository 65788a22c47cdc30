// Hidden units and sums of rows: vector passes against the scalar specification, at every
// instruction-set level of this machine.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "levels_of_ops.hpp"

namespace saltus::ops {
namespace {

// Sizes around a register, the group of 64 units and the flush of the product after 15 groups.
const std::vector<int> kSizes = {1, 2, 5, 15, 16, 17, 63, 64, 65, 127, 500, 784, 959, 960, 961};

// Uniform in +-scale; beyond n, where the passes may read, what must not count.
std::vector<float> numbers(int n, float scale, std::uint32_t which) {
  const Stream s(21, which, 0, Purpose::check);
  std::vector<float> v(static_cast<std::size_t>(padded(n)), std::nanf(""));
  for (int i = 0; i < n; ++i) {
    v[static_cast<std::size_t>(i)] =
        scale * static_cast<float>(2 * s.uniform(static_cast<std::uint32_t>(i)) - 1);
  }
  return v;
}

std::vector<float> first(const std::vector<float>& v, int n) {
  return {v.begin(), v.begin() + n};
}

// Every e = exp(-|z|) has a relative error below 2e-7 and every factor 1 + e adds its rounding, so
// a unit's softplus is off by at most 4e-7.
TEST(HiddenUnits, ActivationsAndSoftplusAgreeWithScalar) {
  for (int n : kSizes) {
    for (float scale : {0.01f, 3.0f, 40.0f, 300.0f}) {
      const std::vector<float> z = numbers(n, scale, 1);
      std::vector<float> exact(z.size()), base(z.size());
      const double sum = ops(Level::scalar).activate(n, z.data(), exact.data(), true);
      const double base_sum = ops(Level::baseline).activate(n, z.data(), base.data(), true);
      for (Level level : vector_levels()) {
        std::vector<float> out(z.size()), in_place = z;
        EXPECT_EQ(ops(level).activate(n, z.data(), out.data(), true), base_sum) << name(level);
        EXPECT_NEAR(base_sum, sum, n * 4e-7) << name(level) << " n " << n << " scale " << scale;
        for (int i = 0; i < n; ++i) {
          const auto k = static_cast<std::size_t>(i);
          ASSERT_EQ(out[k], base[k]) << name(level);
          ASSERT_NEAR(out[k], exact[k], 4e-7f * exact[k] + 1e-37f) << name(level) << " z " << z[k];
        }
        EXPECT_EQ(ops(level).activate(n, z.data(), nullptr, true), base_sum);
        EXPECT_EQ(ops(level).activate(n, in_place.data(), in_place.data(), false), 0);
        EXPECT_EQ(first(in_place, n), first(out, n));
      }
    }
  }
}

TEST(HiddenUnits, ExtremesNeitherOverflowNorHideNaN) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (Level level : levels()) {
    std::vector<float> z(64), on(64);
    z[0] = 1e30f, z[1] = -1e30f, z[2] = -infinity, z[3] = 1000, z[4] = -1000;
    EXPECT_NEAR(ops(level).activate(5, z.data(), on.data(), true) / (double{1e30f} + 1000), 1,
                1e-7);
    EXPECT_EQ(first(on, 5), (std::vector<float>{1, 0, 0, 1, 0})) << name(level);
    z[3] = std::nanf("");
    EXPECT_TRUE(std::isnan(ops(level).activate(5, z.data(), on.data(), true))) << name(level);
    EXPECT_TRUE(std::isnan(on[3]));
  }
}

// A unit is off by the rounding of its two factors and of z + change * w.
TEST(HiddenUnits, ChangeOfSoftplusAgreesWithScalar) {
  for (int n : kSizes) {
    for (float scale : {0.01f, 3.0f, 40.0f}) {
      for (float change : {1.0f, -1.0f, 3.0f}) {
        const std::vector<float> z = numbers(n, scale, 2), w = numbers(n, 0.5f, 3);
        const double exact = ops(Level::scalar).softplus_change(n, z.data(), w.data(), change);
        const double base = ops(Level::baseline).softplus_change(n, z.data(), w.data(), change);
        EXPECT_NEAR(base, exact, n * (8e-7 + 6e-8 * double{scale}));
        for (Level level : vector_levels()) {
          EXPECT_EQ(ops(level).softplus_change(n, z.data(), w.data(), change), base) << name(level);
        }
      }
    }
  }
}

TEST(RowSums, EveryLevelGivesTheSameBits) {
  for (int n : kSizes) {
    RowBuffer<float> matrix(7, n);
    for (int r = 0; r < 7; ++r) {
      const std::vector<float> row = numbers(n, 2, static_cast<std::uint32_t>(r));
      std::copy_n(row.begin(), n, matrix.view()[r]);
    }
    const std::vector<ScaledRow> terms = {{6, 1}, {0, -1}, {3, 0.3f}, {2, -2}, {3, 1.7f}};
    const std::vector<float> from = numbers(n, 5, 9);
    for (int count : {0, 1, 5}) {
      std::vector<float> expected(from);
      for (int k = 0; k < count; ++k) {
        const ScaledRow t = terms[static_cast<std::size_t>(k)];
        for (int i = 0; i < n; ++i) {
          const float product = t.factor * matrix.view()[t.row][i];
          expected[static_cast<std::size_t>(i)] += product;
        }
      }
      for (Level level : levels()) {
        std::vector<float> to(from.size()), in_place(from);
        ops(level).add_rows(n, matrix.view(), terms.data(), count, from.data(), to.data());
        EXPECT_EQ(first(to, n), first(expected, n)) << name(level) << " n " << n;
        ops(level).add_rows(n, matrix.view(), terms.data(), count, in_place.data(),
                            in_place.data());
        EXPECT_EQ(first(in_place, n), first(expected, n)) << name(level) << " n " << n;
      }
    }
  }
}

TEST(RowSums, WeighedValuesAgreeWithScalar) {
  for (int n : kSizes) {
    const std::vector<float> a = numbers(n, 2, 4), c = numbers(n, 1, 5);
    const std::vector<double> b(c.begin(), c.begin() + n);
    std::vector<Symbol> x(static_cast<std::size_t>(padded(n)), 7);
    const Stream s(21, 6, 0, Purpose::check);
    for (int i = 0; i < n; ++i) {
      x[static_cast<std::size_t>(i)] =
          static_cast<Symbol>(s.word(static_cast<std::uint32_t>(i)) % 3);
    }
    for (const float* addend : {a.data(), static_cast<const float*>(nullptr)}) {
      const auto sum = [&](Level level) {
        return ops(level).weigh_values(n, x.data(), -1, 2, addend, b.data());
      };
      for (Level level : vector_levels()) {
        EXPECT_EQ(sum(level), sum(Level::baseline)) << name(level);
        EXPECT_NEAR(sum(level), sum(Level::scalar), n * 1e-14) << name(level) << " n " << n;
      }
    }
  }
}

}  // namespace
}  // namespace saltus::ops
