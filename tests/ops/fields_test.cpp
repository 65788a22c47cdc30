// Lattice, sparse and dense fields: every level against the obvious sum.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "levels_of_ops.hpp"
#include "ops/gemm.hpp"
#include "saltus/target/quadratic.hpp"

namespace saltus::ops {
namespace {

std::vector<Symbol> random_bits(int n, std::uint32_t chain) {
  const Stream s(31, chain, 0, Purpose::check);
  std::vector<Symbol> x;
  for (int i = 0; i < n; ++i)
    x.push_back(static_cast<Symbol>(s.word(static_cast<std::uint32_t>(i)) & 1));
  return x;
}

// Neighbours on the lattice as a set: a periodic side of two has one neighbour, not two.
std::vector<int> neighbours(const Lattice& l, int r, int c) {
  std::vector<int> list;
  const auto add = [&](int rr, int cc) {
    if (l.periodic) rr = (rr + l.rows) % l.rows, cc = (cc + l.cols) % l.cols;
    if (rr < 0 || cc < 0 || rr >= l.rows || cc >= l.cols) return;
    const int site = rr * l.cols + cc;
    if (site != r * l.cols + c && std::find(list.begin(), list.end(), site) == list.end())
      list.push_back(site);
  };
  add(r - 1, c), add(r + 1, c), add(r, c - 1), add(r, c + 1);
  return list;
}

TEST(LatticeFields, EveryShapeAgreesWithTheDefinition) {
  for (bool periodic : {true, false}) {
    for (int rows : {1, 2, 3, 5, 20}) {
      for (int cols : {1, 2, 3, 4, 33, 70}) {
        const Lattice l{rows, cols, periodic, 0.25f, -0.5f};
        const auto x = random_bits(rows * cols, static_cast<std::uint32_t>(rows * 100 + cols));
        std::int64_t pairs = 0, spins = 0;
        std::vector<float> expected;
        for (int i = 0; i < rows * cols; ++i) {
          int sum = 0;
          for (int j : neighbours(l, i / cols, i % cols))
            sum += 2 * x[static_cast<std::size_t>(j)] - 1;
          const int s = 2 * x[static_cast<std::size_t>(i)] - 1;
          pairs += s * sum;
          spins += s;
          expected.push_back(0.25f * static_cast<float>(sum) - 0.5f);
        }
        for (Level level : levels()) {
          std::vector<float> score(x.size());
          for (float* out : {score.data(), static_cast<float*>(nullptr)}) {
            const LatticeSums sums = ops(level).lattice(l, x.data(), out);
            EXPECT_EQ(sums.pairs, pairs)
                << name(level) << " " << rows << "x" << cols << " periodic " << periodic;
            EXPECT_EQ(sums.spins, spins);
          }
          EXPECT_EQ(score, expected) << name(level);
        }
      }
    }
  }
}

struct Graph {
  std::vector<std::int64_t> begin{0}, upper_begin{0};
  std::vector<std::int32_t> column, upper_column;
  std::vector<float> weight, field;
  std::vector<double> upper_weight, exact_field;

  SparseFields fields(int n) const {
    return {n,
            {begin.data(), column.data(), weight.data()},
            field.data(),
            {upper_begin.data(), upper_column.data(), upper_weight.data()},
            exact_field.data(),
            -1.0f,
            2.0f};
  }
};

// Both matrices are random: the passes do not care whether they belong together.
Graph random_graph(int n, int degree) {
  Graph g;
  const Stream s(77, 0, 0, Purpose::check);
  std::uint32_t k = 0;
  const auto site = [&] {
    return static_cast<std::int32_t>(s.word(k++) % static_cast<unsigned>(n));
  };
  const auto number = [&] { return s.word(k++) * 0x1p-32 - 0.5; };
  for (int i = 0; i < n; ++i) {
    for (int d = 0; d < degree; ++d) {
      g.column.push_back(site());
      g.weight.push_back(static_cast<float>(number()));
      g.upper_column.push_back(site());
      g.upper_weight.push_back(number());
    }
    g.begin.push_back(static_cast<std::int64_t>(g.column.size()));
    g.upper_begin.push_back(g.begin.back());
    g.field.push_back(static_cast<float>(number()));
    g.exact_field.push_back(number());
  }
  return g;
}

TEST(SparseFields, EveryLevelAndNumberOfRows) {
  for (int n : {1, 7, 16, 40, 333}) {
    const Graph g = random_graph(n, 5);
    const SparseFields m = g.fields(n);
    for (int rows : {1, 3, 16}) {
      RowBuffer<Symbol> x(rows, n);
      RowBuffer<float> expected(rows, n), score(rows, n);
      std::vector<double> logp_expected(static_cast<std::size_t>(rows)),
          logp(static_cast<std::size_t>(rows));
      std::vector<float> room(static_cast<std::size_t>(n) * kLanes);
      for (int r = 0; r < rows; ++r) {
        const auto bits = random_bits(n, static_cast<std::uint32_t>(r));
        std::copy(bits.begin(), bits.end(), x.view()[r]);
      }
      ops(Level::scalar).sparse_fields(m, x.view(), expected.view(), logp_expected.data(), nullptr);
      for (Level level : vector_levels()) {
        RowBuffer<float> alone(rows, n);
        ops(level).sparse_fields(m, x.view(), alone.view(), nullptr, room.data());
        ops(level).sparse_fields(m, x.view(), score.view(), logp.data(), room.data());
        for (int r = 0; r < rows; ++r) {
          for (int i = 0; i < n; ++i) ASSERT_EQ(alone.view()[r][i], score.view()[r][i]);
        }
        for (int r = 0; r < rows; ++r) {
          for (int i = 0; i < n; ++i)
            ASSERT_NEAR(score.view()[r][i], expected.view()[r][i], 1e-6) << name(level);
          ASSERT_NEAR(logp[static_cast<std::size_t>(r)], logp_expected[static_cast<std::size_t>(r)],
                      1e-13 * n);
        }
      }
    }
  }
}

TEST(DenseFields, AgreeWithSparse) {
  const int n = 60;
  std::vector<Coupling> couplings;
  for (int i = 0; i < n; ++i) {
    for (int j = i + 1; j < n; ++j) couplings.push_back({i, j, std::sin(i * 7.0 + j)});
  }
  std::vector<double> field(60, 0.3);
  const auto sparse = make_ising(n, couplings, field, Quadratic::Storage::sparse);
  const auto dense = make_ising(n, couplings, field);
  EXPECT_TRUE(dense->dense());
  EXPECT_FALSE(sparse->dense());
  Scratch scratch;
  for (int rows : {1, 5, 40}) {
    RowBuffer<Symbol> x(rows, n);
    for (int r = 0; r < rows; ++r) {
      const auto bits = random_bits(n, static_cast<std::uint32_t>(r));
      std::copy(bits.begin(), bits.end(), x.view()[r]);
    }
    RowBuffer<float> a(rows, n), b(rows, n);
    RowBuffer<double> exact(rows, n);
    std::vector<double> la(40), lb(40), le(40);
    sparse->evaluate({0, 0, scratch}, x.view(), la.data(), a.view());
    dense->evaluate({0, 0, scratch}, x.view(), lb.data(), b.view());
    dense->evaluate_exact({0, 0, scratch}, x.view(), le.data(), exact.view());
    for (int r = 0; r < rows; ++r) {
      for (int i = 0; i < n; ++i) {
        ASSERT_NEAR(a.view()[r][i], exact.view()[r][i], 2e-5);
        ASSERT_NEAR(b.view()[r][i], exact.view()[r][i], 2e-5);
      }
      const auto k = static_cast<std::size_t>(r);
      ASSERT_NEAR(la[k], le[k], 1e-3);
      ASSERT_NEAR(lb[k], le[k], 1e-3);
    }
  }
}

}  // namespace
}  // namespace saltus::ops
