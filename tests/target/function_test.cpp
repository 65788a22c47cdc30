// Batched callables as targets: the same distribution as by one row at a time.
#include "saltus/target/function.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "saltus/diagnose/gradient_check.hpp"
#include "small_targets.hpp"

namespace saltus {
namespace {

// log p = sum_i (a_i v_i + b v_i v_{i+1}), in any precision.
template <class T>
void chain_logp(const BatchCall<T>& call) {
  const int n = call.values.cols;
  for (int r = 0; r < call.rows; ++r) {
    const T* v = call.values[r];
    T sum = 0;
    for (int i = 0; i < n; ++i) {
      const T next = i + 1 < n ? v[i + 1] : 0, last = i > 0 ? v[i - 1] : 0;
      sum += T(0.1) * static_cast<T>(i) * v[i] + T(0.4) * v[i] * next;
      if (call.score) call.score[r][i] = T(0.1) * static_cast<T>(i) + T(0.4) * (last + next);
    }
    call.logp[static_cast<std::size_t>(r)] = sum;
  }
}

RowBuffer<Symbol> all_spins(int dim) {
  RowBuffer<Symbol> x(1 << dim, dim);
  for (int r = 0; r < 1 << dim; ++r) {
    for (int i = 0; i < dim; ++i) x.view()[r][i] = static_cast<Symbol>(r >> i & 1);
  }
  return x;
}

template <class S>
struct Evaluated {
  std::vector<double> logp;
  RowBuffer<S> score;
};

Evaluated<float> evaluate(const Target& target, Rows<const Symbol> x) {
  Scratch scratch;
  Evaluated<float> e{std::vector<double>(static_cast<std::size_t>(x.rows)),
                     RowBuffer<float>(x.rows, target.domain().score_size())};
  target.evaluate({0, 0, scratch}, x, e.logp.data(), e.score.view());
  return e;
}

TEST(BatchFunction, SingleAndDoubleAgreeWithOneRow) {
  const Domain domain = Domain::spin(5);
  const BatchFunction single(domain, chain_logp<float>), twice(domain, chain_logp<double>);
  const Function one(domain, [](std::span<const double> v, std::span<double> gradient) {
    double logp = 0;
    chain_logp<double>({1,
                        {},
                        {v.data(), 1, static_cast<int>(v.size()), static_cast<int>(v.size())},
                        {&logp, 1},
                        {gradient.empty() ? nullptr : gradient.data(), 1,
                         static_cast<int>(v.size()), static_cast<int>(v.size())}});
    return logp;
  });
  const RowBuffer<Symbol> x = all_spins(5);
  const auto a = evaluate(single, x.view()), b = evaluate(twice, x.view()),
             c = evaluate(one, x.view());
  for (int r = 0; r < 32; ++r) {
    const auto k = static_cast<std::size_t>(r);
    EXPECT_EQ(b.logp[k], c.logp[k]);
    EXPECT_NEAR(a.logp[k], b.logp[k], 1e-5);  // five sums in single precision
    for (int i = 0; i < 5; ++i) {
      EXPECT_EQ(b.score.view()[r][i], c.score.view()[r][i]);
      EXPECT_NEAR(a.score.view()[r][i], b.score.view()[r][i], 1e-6);
    }
  }
  EXPECT_TRUE(check_score(twice).exact());
  EXPECT_TRUE(check_score(single).plausible());
  EXPECT_EQ(single.preferred_tile(), 64);
  EXPECT_EQ(one.preferred_tile(), 2);
}

TEST(BatchFunction, LevelsAloneAndNoScore) {
  int calls = 0;
  const BatchFunction target(Domain::categorical(2, 3),
                             [&](const BatchCall<double>& call) {
                               ++calls;
                               EXPECT_FALSE(call.values);
                               EXPECT_EQ(call.rows, 4);
                               for (int r = 0; r < call.rows; ++r) {
                                 call.logp[static_cast<std::size_t>(r)] =
                                     call.levels[r][0] - 2.0 * call.levels[r][1];
                                 for (int k = 0; call.score && k < 6; ++k) {
                                   call.score[r][k] = k < 3 ? k : -2.0 * (k - 3);
                                 }
                               }
                             },
                             {"levels", false, 4});
  const RowBuffer<Symbol> x(4, 2);
  x.view()[3][0] = 2, x.view()[3][1] = 1;
  double logp[4];
  Scratch scratch;
  target.evaluate({0, 0, scratch}, x.view(), logp, {});
  EXPECT_EQ(logp[0], 0);
  EXPECT_EQ(logp[3], 0);
  const RowBuffer<double> score(4, 6);
  target.evaluate_exact({0, 0, scratch}, x.view(), nullptr, score.view());
  EXPECT_EQ(score.view()[3][5], -4);
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(target.relaxation(), nullptr);
}

TEST(BatchFunction, BetweenTheLevels) {
  const BatchFunction target(Domain::spin(3), chain_logp<double>);
  ASSERT_NE(target.relaxation(), nullptr);
  const RowBuffer<float> v(2, 3);
  v.view()[1][0] = 0.5F, v.view()[1][1] = -0.25F;
  double logp[2];
  const RowBuffer<float> gradient(2, 3);
  Scratch scratch;
  target.relaxation()->evaluate_relaxed({0, 0, scratch}, v.view(), logp, gradient.view());
  EXPECT_NEAR(logp[1], 0.4 * 0.5 * -0.25 - 0.025, 1e-9);
  EXPECT_NEAR(gradient.view()[1][1], 0.1 + 0.4 * 0.5, 1e-6);
}

}  // namespace
}  // namespace saltus
