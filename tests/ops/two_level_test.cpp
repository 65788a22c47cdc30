// Vector passes against the scalar specification, at every instruction-set level of this machine.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "levels_of_ops.hpp"

namespace saltus::ops {
namespace {

struct Case {
  std::vector<Symbol> x;
  std::vector<float> score, penalty;
  TwoLevelLaw law;

  Case(int n, float scale, bool uniform, float penalty_size = 2.5f, float pull = 0.5f) {
    const Stream s(12, static_cast<std::uint32_t>(n), 0, Purpose::check);
    for (int i = 0; i < n; ++i) {
      const std::uint32_t w = s.word(static_cast<std::uint32_t>(i));
      x.push_back(static_cast<Symbol>(w & 1));
      score.push_back(scale * (static_cast<float>(w >> 8) * 0x1p-23f - 1.0f));
      penalty.push_back(penalty_size * (uniform ? 1.0f : 0.5f + static_cast<float>(i % 7) / 7));
    }
    x.resize(static_cast<std::size_t>(padded(n)));
    score.resize(x.size());
    penalty.resize(x.size());
    law = {pull, penalty.data(), uniform};
  }
};

// Sizes around the group of 64 coordinates and the flush of the product after 15 groups.
const std::vector<int> kSizes = {1,  2,   5,   15,  16,  17,  25,  63,  64,
                                 65, 127, 128, 500, 959, 960, 961, 5000};

// One coordinate's rule decides as the pass does: the same score and penalty everywhere, and more
// words than any other test draws.
TEST(TwoLevel, RuleIsThatOfThePass) {
  constexpr int kCoordinates = 1 << 16;
  std::vector<Symbol> y(kCoordinates);
  const Stream stream(5, 1, 2, Purpose::propose);
  for (const Level level : levels()) {
    for (const float score : {-3.0f, -0.4f, 0.0f, 0.9f, 2.5f, 1000.0f}) {
      for (const float penalty : {0.0f, 0.3f, 2.5f, 30.0f}) {
        for (const Symbol x : {Symbol{0}, Symbol{1}}) {
          const std::vector<Symbol> states(kCoordinates, x);
          const std::vector<float> scores(kCoordinates, score);
          const TwoLevelLaw law{1, &penalty, true};
          ops(level).propose_two_level(law, kCoordinates, states.data(), scores.data(), y.data(),
                                       stream, false);
          const FlipRule rule = ops(level).flip_rule(law, x, score);
          int different = 0;
          for (std::uint32_t i = 0; i < kCoordinates; ++i) {
            const bool unlikely = stream.word(i) >> 1 < rule.unlikely;
            different += (y[i] != x) != (unlikely != rule.likely_flips);
          }
          EXPECT_EQ(different, 0) << name(level) << " score " << score << " penalty " << penalty;
        }
      }
    }
  }
}

TEST(TwoLevel, VectorLevelsGiveTheSameBits) {
  for (int n : kSizes) {
    for (bool uniform : {true, false}) {
      const Case c(n, 6, uniform);
      const Stream stream(5, 1, 2, Purpose::propose);
      std::vector<Symbol> first(c.x.size()), y(c.x.size());
      const Ops& base = ops(Level::baseline);
      const Proposed p =
          base.propose_two_level(c.law, n, c.x.data(), c.score.data(), first.data(), stream, true);
      const double reverse =
          base.log_q_two_level(c.law, n, first.data(), c.score.data(), c.x.data());
      for (Level level : vector_levels()) {
        const Ops& o = ops(level);
        const Proposed q =
            o.propose_two_level(c.law, n, c.x.data(), c.score.data(), y.data(), stream, true);
        EXPECT_EQ(y, first) << name(level) << " n " << n;
        EXPECT_EQ(q.log_q, p.log_q) << name(level) << " n " << n;
        EXPECT_EQ(q.changes, p.changes);
        EXPECT_EQ(o.log_q_two_level(c.law, n, first.data(), c.score.data(), c.x.data()), reverse);
        const Proposed without =
            o.propose_two_level(c.law, n, c.x.data(), c.score.data(), y.data(), stream, false);
        EXPECT_EQ(y, first);
        EXPECT_EQ(without.changes, p.changes);
      }
    }
  }
}

// Float against double: each factor of q has a relative error of some 1e-7, so log q of n
// coordinates differs by at most n * 3e-7, and a draw only where u is that close to the threshold.
TEST(TwoLevel, VectorAgreesWithScalar) {
  for (float scale : {0.1f, 4.0f, 40.0f}) {
    for (int n : kSizes) {
      const Case c(n, scale, false);
      const Stream stream(8, 3, 9, Purpose::propose);
      std::vector<Symbol> y(c.x.size()), z(c.x.size());
      const Proposed exact =
          ops(Level::scalar)
              .propose_two_level(c.law, n, c.x.data(), c.score.data(), y.data(), stream, true);
      for (Level level : vector_levels()) {
        const Proposed p = ops(level).propose_two_level(c.law, n, c.x.data(), c.score.data(),
                                                        z.data(), stream, true);
        EXPECT_EQ(z, y) << name(level) << " n " << n << " scale " << scale;
        EXPECT_NEAR(p.log_q, exact.log_q, 1e-6 + n * 3e-7) << name(level) << " n " << n;
        EXPECT_NEAR(
            ops(level).log_q_two_level(c.law, n, y.data(), c.score.data(), c.x.data()),
            ops(Level::scalar).log_q_two_level(c.law, n, y.data(), c.score.data(), c.x.data()),
            1e-6 + n * 3e-7);
      }
    }
  }
}

// log q(y | x) of the draw must be the log q that the reverse pass computes for the same pair.
TEST(TwoLevel, ForwardAndReversePassAgree) {
  for (Level level : levels()) {
    for (int n : kSizes) {
      const Case c(n, 5, true);
      std::vector<Symbol> y(c.x.size());
      const Proposed p = ops(level).propose_two_level(
          c.law, n, c.x.data(), c.score.data(), y.data(), Stream(3, 0, 0, Purpose::propose), true);
      EXPECT_DOUBLE_EQ(p.log_q,
                       ops(level).log_q_two_level(c.law, n, c.x.data(), c.score.data(), y.data()));
    }
  }
}

// Huge logits: certain flips, finite log q, no overflow. A naive exp(l) / (exp(l) + 1) fails here.
TEST(TwoLevel, HugeLogitsAreCertainAndFinite) {
  for (Level level : levels()) {
    for (float l : {88.0f, 100.0f, 1000.0f, 1500.0f, 1e30f}) {
      const std::vector<Symbol> x(128, 0), stay = x;
      const std::vector<float> score(128, 2 * l);
      const float zero = 0;
      const TwoLevelLaw law{0.5f, &zero, true};
      std::vector<Symbol> y(128);
      const Proposed p = ops(level).propose_two_level(law, 70, x.data(), score.data(), y.data(),
                                                      Stream(1, 0, 0, Purpose::propose), true);
      EXPECT_EQ(p.changes, 70u) << name(level) << " " << l;
      EXPECT_NEAR(p.log_q, 0, 1e-30);
      // The stay that never happens has log probability -l, not a clipped one.
      EXPECT_NEAR(ops(level).log_q_two_level(law, 70, x.data(), score.data(), stay.data()) /
                      (-70.0 * double{l}),
                  1, 1e-6);
    }
  }
}

TEST(TwoLevel, LogProbabilitiesAreNotClipped) {
  const std::vector<Symbol> x(64, 0), y(64, 1);
  const std::vector<float> score(64, -60.0f);  // flip logit -30
  const float zero = 0;
  for (Level level : levels()) {
    EXPECT_NEAR(
        ops(level).log_q_two_level({0.5f, &zero, true}, 1, x.data(), score.data(), y.data()),
        -30.0000000000001, 1e-5)
        << name(level);
  }
  EXPECT_NEAR(
      ops(Level::scalar).log_q_two_level({0.5f, &zero, true}, 1, x.data(), score.data(), y.data()),
      -30.0000000000001, 1e-13);
}

TEST(TwoLevel, ExtremeStepSizes) {
  for (Level level : levels()) {
    for (float alpha : {1e-3f, 1e9f}) {
      const Case c(200, 3, true, 0.5f / alpha);
      std::vector<Symbol> y(256);
      const Proposed p =
          ops(level).propose_two_level(c.law, 200, c.x.data(), c.score.data(), y.data(),
                                       Stream(1, 0, 0, Purpose::propose), true);
      EXPECT_TRUE(std::isfinite(p.log_q)) << name(level);
      EXPECT_TRUE(p.finite);
      if (alpha < 1) {
        EXPECT_EQ(p.changes, 0u);
      }
    }
  }
}

TEST(TwoLevel, NotANumberIsReported) {
  Case c(100, 1, true);
  c.score[77] = NAN;
  std::vector<Symbol> y(128);
  for (Level level : levels()) {
    const Proposed p = ops(level).propose_two_level(
        c.law, 100, c.x.data(), c.score.data(), y.data(), Stream(1, 0, 0, Purpose::propose), true);
    EXPECT_FALSE(p.finite) << name(level);
    EXPECT_TRUE(std::isnan(p.log_q)) << name(level);
  }
}

// Frequencies of flips at several logits, 4e6 draws each: within 5 standard deviations of sigma(l).
TEST(TwoLevel, FlipFrequencies) {
  const int n = 4032, rounds = 1000;
  for (Level level : vector_levels()) {
    for (float l : {-9.0f, -2.0f, 0.0f, 1.5f, 7.0f}) {
      const std::vector<Symbol> x(n, 0);
      const std::vector<float> score(n, 2 * l);
      const float zero = 0;
      std::vector<Symbol> y(n);
      double flips = 0;
      for (int r = 0; r < rounds; ++r) {
        flips += ops(level)
                     .propose_two_level(
                         {0.5f, &zero, true}, n, x.data(), score.data(), y.data(),
                         Stream(4, 0, static_cast<std::uint64_t>(r), Purpose::propose), false)
                     .changes;
      }
      const double p = 1 / (1 + std::exp(-double{l})), total = double{n} * rounds;
      EXPECT_NEAR(flips / total, p, 5 * std::sqrt(p * (1 - p) / total))
          << name(level) << " l " << l;
    }
  }
}

}  // namespace
}  // namespace saltus::ops
