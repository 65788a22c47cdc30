// DULA and DMALA on categorical, ordered and unbounded coordinates, exactly.
#include <gtest/gtest.h>

#include <cmath>

#include "dlp_helpers.hpp"
#include "saltus/diagnose/distance.hpp"
#include "saltus/target/function.hpp"
#include "saltus/target/poisson.hpp"
#include "saltus/target/potts.hpp"
#include "saltus/target/quadratic.hpp"

namespace saltus {
namespace {

using Distance = DlpOptions::Distance;

Potts separable() {
  return Potts(Domain::categorical(2, 3), {.3, -.5, 1.1, -.2, -.9, .7}, {});
}

Potts coupled() {
  return Potts(Domain::categorical(2, 3), {.3, -.5, 1.1, -.2, -.9, .7},
               {{0, 1, {.5, -.3, .2, .1, .8, -.6, -.4, .3, .9}}});
}

TEST(Categorical, SeparableTarget) {
  const Potts target = separable();
  const StateTable table(target);
  const double pi[] = {.0687829923, .0341566231, .169178862,  .0309061907, .0153475601,
                       .0760169628, .1530793646, .0760169628, .3765144815};
  for (std::size_t s = 0; s < 9; ++s) EXPECT_NEAR(table.probability()[s], pi[s], 6e-11);
}

TEST(Categorical, ProposalOfSite0) {
  const Potts target = separable();
  const StateTable table(target);
  const double rows[3][3] = {{.9856407745, .0044517263, .0099074992},
                             {.0098062154, .9755646302, .0146291544},
                             {.0044827624, .0030048855, .9925123521}};
  const Dlp sampler = dlp(target.domain(), 0.2, false);
  for (std::size_t c = 0; c < 3; ++c) {
    std::vector<double> log_p(6);
    sampler.log_probabilities(table.domain(), table.state(3 * c), table.score(3 * c), log_p);
    for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(std::exp(log_p[k]), rows[c][k], 6e-11);
  }
}

TEST(Categorical, BiasOfDula) {
  const Potts target = separable();
  const StateTable table(target);
  struct Row {
    double step, site0[3], site1[3], l1;
  };
  const Row rows[] = {
      {.1,
       {.2721239275, .122281795, .6055942775},
       {.2527750333, .1255321824, .6216927842},
       4.503955517e-05},
      {.2,
       {.2729181332, .1238966094, .6031852575},
       {.2537202281, .127140584, .6191391879},
       6.604930488e-03},
      {.5,
       {.2852969014, .1490656753, .5656374233},
       {.2684736778, .1522459628, .5792803594},
       .1079688148},
      {1,
       {.2991626697, .1772581764, .5235791539},
       {.2850470879, .1804482983, .5345046139},
       .2195373886},
  };
  for (const Row& row : rows) {
    const Conformance c = check_transitions(dlp(target.domain(), row.step, false), table);
    EXPECT_NEAR(c.l1, row.l1, 6e-10 * std::max(1.0, row.l1));
    for (std::size_t k = 0; k < 3; ++k) {
      double m0 = 0, m1 = 0;
      for (std::size_t j = 0; j < 3; ++j)
        m0 += c.stationary[3 * k + j], m1 += c.stationary[3 * j + k];
      EXPECT_NEAR(m0, row.site0[k], 1e-10);
      EXPECT_NEAR(m1, row.site1[k], 1e-10);
    }
    EXPECT_LT(check_transitions(dlp(target.domain(), row.step, true), table).invariance, 1e-12);
  }
}

TEST(Categorical, CoupledTarget) {
  const Potts target = coupled();
  const StateTable table(target);
  const double pi[] = {.07147267, .01594771, .1302317,  .02152716, .02152716,
                       .02629333, .06467115, .06467115, .58365799};
  const double law[] = {.0755049,  .02687567, .14184644, .02886003, .02632483,
                        .04470518, .08572154, .0804485,  .48971292};
  const Dlp unadjusted = dlp(target.domain(), .5, false);
  const Conformance u = check_transitions(unadjusted, table);
  for (std::size_t s = 0; s < 9; ++s) {
    EXPECT_NEAR(table.probability()[s], pi[s], 6e-9);
    EXPECT_NEAR(u.stationary[s], law[s], 6e-9);
  }
  EXPECT_NEAR(u.l1, .18789014, 6e-9);
  const Conformance a = check_transitions(dlp(target.domain(), .5, true), table);
  EXPECT_NEAR(a.acceptance, .95799222, 6e-9);
  EXPECT_LT(a.invariance, 1e-12);
  EXPECT_LT(a.reversibility, 1e-12);
}

// A bilinear logp is log-quadratic: DULA's law is pi times the product of the proposal's
// normalisers.
TEST(Categorical, LawOfDulaInClosedForm) {
  const Potts target = coupled();
  const StateTable table(target);
  const Conformance u = check_transitions(dlp(target.domain(), .5, false), table);
  std::vector<double> law(9);
  double total = 0;
  for (std::size_t s = 0; s < 9; ++s) {
    law[s] = table.probability()[s];
    for (std::size_t i = 0; i < 2; ++i) {
      const double* g = table.score(s) + 3 * i;
      const Symbol c = table.state(s)[i];
      double sum = 0;
      for (Symbol k = 0; k < 3; ++k) sum += std::exp((g[k] - g[c]) / 2 - (k == c ? 0 : 2.0));
      law[s] *= sum;
    }
    total += law[s];
  }
  for (std::size_t s = 0; s < 9; ++s) EXPECT_NEAR(u.stationary[s], law[s] / total, 1e-14);
}

TEST(Categorical, ConstantInTheGradientChangesNothing) {
  const Potts target = coupled();
  const Function shifted(target.domain(), [&](std::span<const double> v, std::span<double> g) {
    const Symbol x[2] = {static_cast<Symbol>(v[0]), static_cast<Symbol>(v[1])};
    const double logp = logp_of(target, x, g.empty() ? nullptr : g.data());
    for (std::size_t k = 0; k < g.size(); ++k) g[k] += k < 3 ? 5.0 : -7.0;
    return logp;
  });
  const StateTable a(target), b(shifted);
  const Dlp sampler = dlp(target.domain(), .3, true);
  const Matrix ta(sampler, a), tb(sampler, b);
  for (int x = 0; x < 9; ++x) {
    for (int y = 0; y < 9; ++y) EXPECT_NEAR(ta(x, y), tb(x, y), 1e-14);
  }
}

// Two classes with step alpha are a bit with step alpha / 2, and an ordered pair of levels is a
// bit.
TEST(Equivalences, TwoLevelsInThreeCodings) {
  const std::vector<double> b = {0.4, -0.3};
  const double w = 0.9;
  const Quadratic bits("bits", Domain::binary(2), {{0, 1, w}}, b);
  const Potts one_hot(Domain::categorical(2, 2), {0, b[0], 0, b[1]}, {{0, 1, {0, 0, 0, w}}});
  const StateTable tb(bits), to(one_hot);
  const Dlp bit = dlp(bits.domain(), 0.35, true), hot = dlp(one_hot.domain(), 0.7, true);
  const Matrix a(bit, tb), c(hot, to);
  for (int x = 0; x < 4; ++x) {
    for (int y = 0; y < 4; ++y) EXPECT_NEAR(a(x, y), c(x, y), 1e-14);
  }
  // Ordered coordinates of unequal level counts take the general path; a two-level one among them
  // must behave like a bit.
  const Quadratic mixed("mixed", Domain::ordered({2, 3}), {}, {0.4, 0.2});
  const StateTable tm(mixed);
  std::vector<double> log_p(5);
  const Dlp general = dlp(mixed.domain(), 0.35, false);
  general.log_probabilities(tm.domain(), tm.state(0), tm.score(0), log_p);
  EXPECT_NEAR(std::exp(log_p[1]), sigmoid_of(0.4 / 2 - 1 / 0.7), 1e-14);
}

// Theta = {0..4}, logp = -0.3 (theta - 1.7)^2.
Quadratic ordinal() {
  return Quadratic("ordinal", Domain::ordered(1, 5), {{0, 0, -0.3}}, {1.02});
}

TEST(Ordered, BiasAndAcceptance) {
  const Quadratic target = ordinal();
  const StateTable table(target);
  const double pi[] = {.1371576195, .2817811687, .3177073805, .1965920505, .0667617807};
  for (std::size_t s = 0; s < 5; ++s) EXPECT_NEAR(table.probability()[s], pi[s], 6e-11);
  struct Row {
    double step, law[5], l1, acceptance, window_law[5], window_l1;
  };
  const Row rows[] = {
      {.5,
       {.1285765555, .2825918094, .3178727742, .2029864971, .0679723638},
       .01716213,
       .99385074,
       {.1274547781, .284484701, .3183204549, .2030531111, .066686955},
       .01955533},
      {1,
       {.1322451697, .2747515215, .313084766, .2049581227, .07496042},
       .03312942,
       .98811599,
       {.1246097775, .2852774121, .3185002164, .2049475789, .0666650151},
       .02528922},
      {2,
       {.1490023644, .2599528267, .2897497012, .206798603, .0944965047},
       .09957204,
       .94445748,
       {.1232158979, .2856657931, .3185882887, .2058757546, .0666542658},
       .02809847},
      {5,
       {.1902440608, .2322836973, .2362434365, .2001136387, .1411151667},
       .26192283,
       .82929832,
       {.1224126117, .2858896151, .3186390444, .2064106577, .0666480711},
       .02971743},
  };
  for (const Row& row : rows) {
    const Conformance all = check_transitions(dlp(target.domain(), row.step, false), table);
    const Conformance near =
        check_transitions(dlp(target.domain(), row.step, false, Distance::index, 1), table);
    for (std::size_t s = 0; s < 5; ++s) {
      EXPECT_NEAR(all.stationary[s], row.law[s], 1e-10);
      EXPECT_NEAR(near.stationary[s], row.window_law[s], 1e-10);
    }
    EXPECT_NEAR(all.l1, row.l1, 6e-9);
    EXPECT_NEAR(near.l1, row.window_l1, 6e-9);
    const Conformance exact = check_transitions(dlp(target.domain(), row.step, true), table);
    EXPECT_NEAR(exact.acceptance, row.acceptance, 6e-9);
    EXPECT_LT(exact.invariance, 1e-12);
    EXPECT_LT(check_transitions(dlp(target.domain(), row.step, true, Distance::index, 1), table)
                  .invariance,
              1e-12);
  }
}

TEST(Windowed, PoissonCutOffAt60) {
  const Poisson target({3.0});
  const StateTable table(target, 60);
  struct Row {
    double step, mean, acceptance, from0[2], from3[3];
  };
  const Row rows[] = {{.5,
                       3.03435791,
                       .99727930,
                       {.5404330236, .4595669764},
                       {.2290061779, .5753602066, .1956336155}},
                      {1,
                       3.03492288,
                       .99611009,
                       {.4163162859, .5836837141},
                       {.296021473, .4510956068, .2528829202}},
                      {4, 3.03533012, .99515316, {0, 0}, {0, 0, 0}}};
  for (const Row& row : rows) {
    const Dlp unadjusted = dlp(target.domain(), row.step, false, Distance::index, 1);
    const Conformance u = check_transitions(unadjusted, table);
    EXPECT_NEAR(table.means(u.stationary)[0], row.mean, 6e-9);
    const Conformance a =
        check_transitions(dlp(target.domain(), row.step, true, Distance::index, 1), table);
    EXPECT_NEAR(a.acceptance, row.acceptance, 6e-9);
    EXPECT_LT(a.invariance, 1e-12);
    EXPECT_NEAR(table.means(a.stationary)[0], 3, 1e-9);
    if (row.from0[0] == 0) continue;
    const Matrix q(unadjusted, table);
    for (int k = 0; k < 2; ++k) EXPECT_NEAR(q(0, k), row.from0[k], 6e-11);
    for (int k = 0; k < 3; ++k) EXPECT_NEAR(q(3, 2 + k), row.from3[k], 6e-11);
    EXPECT_EQ(q(3, 5), 0);
  }
}

}  // namespace
}  // namespace saltus
