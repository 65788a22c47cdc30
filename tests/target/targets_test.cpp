// Every target: single and double precision agree, rows are independent, scores explain logp.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "saltus/core/error.hpp"
#include "saltus/diagnose/exact.hpp"
#include "saltus/diagnose/gradient_check.hpp"
#include "small_targets.hpp"

namespace saltus {
namespace {

class EveryTarget : public testing::TestWithParam<SmallTarget> {};

TEST_P(EveryTarget, SingleAndDoublePrecisionAgree) {
  const auto target = GetParam().make();
  const StateTable table(*target, GetParam().levels);
  const Domain& domain = target->domain();
  const int rows = static_cast<int>(table.size());
  RowBuffer<Symbol> x(rows, domain.dim());
  for (int s = 0; s < rows; ++s)
    std::copy_n(table.state(static_cast<std::size_t>(s)), domain.dim(), x.view()[s]);
  RowBuffer<float> score(rows, domain.score_size());
  std::vector<double> logp(table.size()), alone(table.size());
  Scratch scratch;
  target->evaluate({0, 0, scratch}, x.view(), logp.data(), score.view());
  target->evaluate({0, 0, scratch}, x.view(), alone.data(), {});
  for (int s = 0; s < rows; ++s) {
    const auto at = static_cast<std::size_t>(s);
    EXPECT_NEAR(logp[at], table.logp(at), 2e-6);
    EXPECT_EQ(logp[at], alone[at]);
    for (int k = 0; k < domain.score_size(); ++k)
      EXPECT_NEAR(score.view()[s][k], table.score(at)[k], 1e-6);
    // A row evaluated on its own gives the same bits.
    RowBuffer<float> one(1, domain.score_size());
    double l = 0;
    target->evaluate({0, 0, scratch}, {x.view()[s], 1, domain.dim(), domain.dim()}, &l, one.view());
    EXPECT_NEAR(l, logp[at], 1e-6);
    for (int k = 0; k < domain.score_size(); ++k)
      EXPECT_NEAR(one.view()[0][k], score.view()[s][k], 1e-6);
  }
}

TEST_P(EveryTarget, ScoreExplainsLogp) {
  const auto target = GetParam().make();
  const GradientCheck g = check_score(*target);
  EXPECT_TRUE(g.finite);
  EXPECT_TRUE(g.plausible()) << "correlation " << g.correlation << " slope " << g.slope;
  const std::set<std::string> curved = {"curved", "batch", "rbm", "poisson"};
  const bool quadratic = !curved.contains(GetParam().name);
  EXPECT_EQ(g.exact(), quadratic) << g.worst_error;
}

TEST_P(EveryTarget, ExactAnswerAgreesWithTheTable) {
  const auto target = GetParam().make();
  if (target->domain().unbounded()) {
    EXPECT_THROW(exact_answer(*target), UsageError);
    return;
  }
  const StateTable table(*target);
  for (int threads : {1, 2}) {
    const ExactAnswer answer = exact_answer(*target, threads);
    EXPECT_NEAR(answer.log_z, table.log_z(), 1e-6);
    const auto means = table.means(table.probability());
    for (std::size_t i = 0; i < means.size(); ++i) EXPECT_NEAR(answer.means[i], means[i], 1e-6);
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, EveryTarget, testing::ValuesIn(small_targets()),
                         [](const auto& p) { return p.param.name; });

TEST(GradientChecker, FindsAWrongGradient) {
  const Function wrong_sign(Domain::binary(3), [](std::span<const double> v, std::span<double> g) {
    const double logp = curved_logp(v, g);
    for (double& e : g) e = -e;
    return logp;
  });
  EXPECT_FALSE(check_score(wrong_sign).plausible());
  const Function half(Domain::binary(3), [](std::span<const double> v, std::span<double> g) {
    const double logp = curved_logp(v, g);
    for (double& e : g) e /= 2;
    return logp;
  });
  EXPECT_FALSE(check_score(half).plausible());
  const Function missing(Domain::spin(1), [](std::span<const double> v, std::span<double> g) {
    if (!g.empty()) g[0] = 0;  // what the sine example gives on its two levels
    return v[0];
  });
  EXPECT_FALSE(check_score(missing).plausible());
  const Function infinite(Domain::binary(1), [](std::span<const double> v, std::span<double> g) {
    if (!g.empty()) g[0] = NAN;
    return v[0];
  });
  EXPECT_FALSE(check_score(infinite).plausible());
}

TEST(GradientChecker, CentralDifferences) {
  const std::vector<double> v = {0.2, 0.7, -0.3};
  EXPECT_LT(check_gradient(curved_logp, v), 1e-8);
  const Extension wrong = [](std::span<const double> x, std::span<double> g) {
    const double logp = curved_logp(x, g);
    if (!g.empty()) g[1] += 0.01;
    return logp;
  };
  EXPECT_GT(check_gradient(wrong, v), 1e-3);
}

// The paper's 5 x 5 model: all 33,554,432 states.
TEST(ExactAnswer, Ising5x5) {
  const ExactAnswer answer = exact_answer(IsingLattice(5, 5, true, 0.1, 0.2));
  EXPECT_NEAR(answer.log_z, 19.6740857613409, 1e-11);
  for (double m : answer.means) EXPECT_NEAR(m, 0.48296984223599815, 1e-11);
}

// The RBM with 3 visible and 2 hidden units.
TEST(RbmTest, LogpScoreAndPartitionFunction) {
  const Rbm target({.8, -1.2, .5, -.4, .9, 1.5}, {-.2, .4, -.6}, {.1, -.3});
  const StateTable table(target);
  const double logp[] = {1.2987519045, 1.9007704178, 1.7248232756, 2.4530074737,
                         1.4443399236, 1.9915180759, 1.5524941139, 2.2659248988};
  for (std::size_t s = 0; s < 8; ++s) EXPECT_NEAR(table.logp(s), logp[s], 6e-11);
  EXPECT_NEAR(table.log_z(), 3.980046456637524, 1e-13);
  const double at_000[] = {.0497603567, .1530267099, .3008258185};
  const double at_111[] = {-.0983466961, .5011804646, .943219101};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(table.score(0)[i], at_000[i], 6e-11);
    EXPECT_NEAR(table.score(7)[i], at_111[i], 6e-11);
  }
  EXPECT_THROW(Rbm({1, 2}, {0, 0}, {0, 0}), DataError);
}

// States of probability zero, in whole blocks and within them.
TEST(ExactAnswer, ForbiddenStates) {
  const Function target(Domain::binary(13), [](std::span<const double> v, std::span<double> g) {
    for (double& e : g) e = 0;
    return v[0] == 0 || v[12] == 1 ? -INFINITY : 0.0;
  });
  for (int threads : {1, 2}) {
    const ExactAnswer answer = exact_answer(target, threads);
    EXPECT_NEAR(answer.log_z, 11 * std::log(2.0), 1e-12);
    EXPECT_EQ(answer.means[0], 1);
    EXPECT_EQ(answer.means[12], 0);
    EXPECT_NEAR(answer.means[5], 0.5, 1e-12);
  }
}

TEST(Poisson, RefusesRatesOutOfRange) {
  EXPECT_THROW(Poisson({1.0, 0.0}), DataError);
  EXPECT_THROW(Poisson({-1.0}), DataError);
  EXPECT_THROW(Poisson({1e5}), DataError);
}

TEST(Quadratic, AddsBothTrianglesAndTheDiagonal) {
  // 2 x0 x1 + 3 x1 x0 + 0.5 x0^2 at x = (2, 1): 10 + 2; gradient 5 x1 + x0 and 5 x0.
  const Quadratic q("q", Domain::ordered(2, 3), {{0, 1, 2}, {1, 0, 3}, {0, 0, 0.5}}, {0, 0});
  const Symbol x[2] = {2, 1};
  double score[2];
  EXPECT_NEAR(logp_of(q, x, score), 12, 1e-14);
  EXPECT_NEAR(score[0], 7, 1e-14);
  EXPECT_NEAR(score[1], 10, 1e-14);
}

TEST(Quadratic, RefusesBadCouplings) {
  EXPECT_THROW(make_ising(3, {{0, 3, 1.0}}, {0, 0, 0}), DataError);
  EXPECT_THROW(make_ising(3, {{1, 1, 1.0}}, {0, 0, 0}), DataError);
  EXPECT_THROW(make_ising(3, {}, {0, 0}), DataError);
}

}  // namespace
}  // namespace saltus
