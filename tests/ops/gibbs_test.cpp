// Gibbs updates in lanes: every level decides as the specification does.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "levels_of_ops.hpp"

namespace saltus::ops {
namespace {

std::uint32_t random_word(std::uint32_t k) {
  return Stream(5, 0, 0, Purpose::check).word(k);
}

std::vector<Symbol> random_bits(int n, std::uint32_t seed) {
  std::vector<Symbol> x;
  for (int i = 0; i < n; ++i) {
    x.push_back(static_cast<Symbol>(random_word(seed * 7919 + static_cast<std::uint32_t>(i)) & 1));
  }
  return x;
}

// Thresholds of all sizes, those of probability 0 and 1 among them.
LatticeGibbs random_law(int rows, int cols, bool periodic) {
  LatticeGibbs law{rows, cols, periodic, {}};
  std::uint32_t k = 0;
  for (auto& of_degree : law.threshold) {
    for (std::uint32_t& t : of_degree) t = random_word(1000 + k++) >> 1;
  }
  law.threshold[4][0] = 0;
  law.threshold[4][4] = 0x80000000u;
  return law;
}

TEST(GibbsOnALattice, EveryLevelAndShapeIsTheSpecification) {
  for (bool periodic : {true, false}) {
    for (int rows : {1, 2, 3, 4, 9, 20}) {
      for (int cols : {1, 2, 3, 4, 31, 34, 35, 36, 70, 256, 4200}) {
        const auto odd = [](int side) { return side > 2 && side % 2 == 1; };
        if (periodic && (odd(rows) || odd(cols))) continue;  // neighbours of one colour
        const LatticeGibbs law = random_law(rows, cols, periodic);
        const auto start = random_bits(rows * cols, static_cast<std::uint32_t>(rows * 5000 + cols));
        for (int colour : {0, 1}) {
          const Stream stream(9, 3, 11, Purpose::level);
          auto expected = start;
          const std::uint32_t changes =
              ops(Level::scalar).gibbs_lattice(law, colour, expected.data(), stream, 128);
          std::uint32_t differ = 0;
          for (std::size_t i = 0; i < start.size(); ++i) differ += start[i] != expected[i];
          ASSERT_EQ(differ, changes);
          for (Level level : vector_levels()) {
            auto x = start;
            EXPECT_EQ(ops(level).gibbs_lattice(law, colour, x.data(), stream, 128), changes);
            ASSERT_EQ(x, expected) << name(level) << " " << rows << "x" << cols;
          }
        }
      }
    }
  }
}

// Sites with certain outcomes have them, and sites of the other colour stay.
TEST(GibbsOnALattice, CertainOutcomes) {
  for (std::uint32_t threshold : {0u, 0x80000000u}) {
    LatticeGibbs law{6, 40, true, {}};
    for (auto& of_degree : law.threshold) of_degree.fill(threshold);
    for (Level level : levels()) {
      const auto before = random_bits(240, 1);
      auto x = before;
      ops(level).gibbs_lattice(law, 1, x.data(), Stream(1, 0, 0, Purpose::level), 0);
      for (int i = 0; i < 240; ++i) {
        const auto at = static_cast<std::size_t>(i);
        EXPECT_EQ(x[at], (i / 40 + i % 40) % 2 == 0 ? before[at] : threshold != 0);
      }
    }
  }
}

// A matrix with a diagonal, as rows of some entries and in full; it need not be symmetric.
struct Pairs {
  std::vector<std::int64_t> begin{0};
  std::vector<std::int32_t> column;
  std::vector<float> weight, diagonal, base;
  RowBuffer<float> full;

  Pairs(int n, int degree) : full(n, n) {
    std::uint32_t k = 20000;
    const auto number = [&] { return static_cast<float>(random_word(k++) * 0x1p-32 * 2.0 - 1.0); };
    for (int i = 0; i < n; ++i) {
      float* row = full.view()[i];
      row[i] = number();
      for (int d = 0; d < degree; ++d) {
        row[random_word(k++) % static_cast<unsigned>(n)] = number();
      }
      for (int j = 0; j < n; ++j) {
        if (row[j] == 0) continue;
        column.push_back(j);
        weight.push_back(row[j]);
      }
      begin.push_back(static_cast<std::int64_t>(column.size()));
      diagonal.push_back(row[i]);
      base.push_back(i % 10 == 3 ? 1000 * number() : number());
    }
  }
  PairGibbs law(bool dense) const {
    return {static_cast<int>(base.size()),
            {begin.data(), column.data(), weight.data()},
            diagonal.data(),
            base.data(),
            4.0f,
            dense ? full.view() : Rows<float>{}};
  }
};

// Coordinates, some of them more than once and in a row.
std::vector<std::int32_t> some_order(int n) {
  std::vector<std::int32_t> order;
  for (int t = 0; t < 2 * n + 1; ++t) {
    order.push_back((t * 13 + 5) % n);
    if (t % 5 == 0) order.push_back(order.back());
  }
  return order;
}

TEST(GibbsOnPairs, EveryLevelIsTheSpecification) {
  for (int n : {1, 7, 40, 333}) {
    const Pairs pairs(n, n == 333 ? 50 : 5);
    const std::vector<std::int32_t> order = some_order(n);
    for (int rows : {1, 3, 16}) {
      for (std::uint32_t first_word : {0u, 6u}) {
        // The counts of changes, then the states.
        const auto result = [&](Level level, bool dense) {
          RowBuffer<Symbol> x(rows, n);
          for (int r = 0; r < rows; ++r) {
            const auto bits = random_bits(n, static_cast<std::uint32_t>(r));
            std::copy(bits.begin(), bits.end(), x.view()[r]);
          }
          std::vector<std::uint32_t> all(static_cast<std::size_t>(rows), 100);
          std::vector<std::uint16_t> room(static_cast<std::size_t>(n));
          ops(level).gibbs_pairs(pairs.law(dense), x.view(), order.data(),
                                 static_cast<int>(order.size()), Stream(3, 40, 7, Purpose::level),
                                 first_word, all.data(), room.data());
          for (int r = 0; r < rows; ++r) all.insert(all.end(), x.view()[r], x.view()[r] + n);
          return all;
        };
        const auto expected = result(Level::scalar, false);
        for (Level level : vector_levels()) {
          EXPECT_EQ(result(level, false), expected) << name(level);
          EXPECT_EQ(result(level, true), expected) << name(level);
        }
      }
    }
  }
}

TEST(GibbsOnADenseModel, EveryLevelIsTheSpecification) {
  for (int n : {1, 7, 64, 333}) {
    Pairs pairs(n, n / 2);
    const Rows<float> matrix = pairs.full.view();
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < i; ++j) matrix[i][j] = matrix[j][i];
    }
    const std::vector<std::int32_t> order = some_order(n);
    for (const float first_value : {0.0f, -1.0f}) {
      const float spacing = 1.0f - first_value;
      const DenseGibbs law{matrix, pairs.base.data(), first_value, spacing};
      const auto start = random_bits(n, 5);
      RowBuffer<float> score(1, n);
      const auto result = [&](Level level) {
        for (int i = 0; i < n; ++i) {
          double sum = double{pairs.base[static_cast<std::size_t>(i)]};
          for (int j = 0; j < n; ++j) {
            sum += double{matrix[i][j]} *
                   double{first_value +
                          spacing * static_cast<float>(start[static_cast<std::size_t>(j)])};
          }
          score.view()[0][i] = static_cast<float>(sum);
        }
        auto x = start;
        const std::uint32_t changed = ops(level).gibbs_dense(
            law, x.data(), score.view()[0], order.data(), static_cast<int>(order.size()),
            Stream(3, 1, 9, Purpose::level), 62);
        EXPECT_GT(changed, 0u);
        x.push_back(static_cast<Symbol>(changed));
        return x;
      };
      const auto expected = result(Level::scalar);
      for (Level level : vector_levels()) EXPECT_EQ(result(level), expected) << name(level);
    }
  }
}

}  // namespace
}  // namespace saltus::ops
