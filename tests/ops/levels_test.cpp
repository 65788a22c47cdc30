// The passes over coordinates with many levels: vector against scalar, and against one another.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "levels_of_ops.hpp"

namespace saltus::ops {
namespace {

struct Case {
  Domain domain;
  std::vector<Symbol> x;
  std::vector<float> score, penalty, room;
  LevelsLaw law;

  Case(Domain d, int window, float scale, float cost)
      : domain(std::move(d)), room(room_for_levels(domain)) {
    const Stream s(21, 0, 0, Purpose::check);
    for (int i = 0; i < domain.dim(); ++i) {
      const int levels = domain.unbounded() ? 9 : domain.levels(i);
      x.push_back(static_cast<Symbol>(s.word(static_cast<std::uint32_t>(i)) %
                                      static_cast<unsigned>(levels)));
      penalty.push_back(cost * (1 + static_cast<float>(i % 3)));
    }
    for (int k = 0; k < domain.score_size(); ++k) {
      score.push_back(
          scale *
          (static_cast<float>(s.word(static_cast<std::uint32_t>(k + 5000)) >> 8) * 0x1p-23f -
           1.0f));
    }
    x.resize(static_cast<std::size_t>(padded(domain.dim())));
    penalty.resize(x.size());
    score.resize(static_cast<std::size_t>(padded(domain.score_size())));
    law = {&domain, 0.5f, penalty.data(), false, window};
  }
};

std::vector<Case> cases() {
  std::vector<Case> list;
  list.emplace_back(Domain::ordered(100, 5), 0, 2.0f, 0.3f);
  list.emplace_back(Domain::ordered({2, 5, 3, 17, 64, 2, 300}), 0, 0.5f, 0.05f);
  list.emplace_back(Domain::ordered(30, 40), 3, 1.0f, 0.1f);
  list.emplace_back(Domain::integers(50), 1, 1.0f, 0.5f);
  list.emplace_back(Domain::categorical(80, 3), 0, 2.0f, 1.0f);
  list.emplace_back(Domain::categorical({2, 7, 16, 17, 33, 1000}), 0, 3.0f, 1.5f);
  list.emplace_back(Domain::categorical(3, 30522), 0, 4.0f, 2.0f);
  for (const Domain& d : {Domain::ordered(40, 5), Domain::ordered(20, 40),
                          Domain::categorical(80, 3), Domain::categorical({2, 7, 33})}) {
    list.emplace_back(d, 0, 2.0f, 0.3f);
    list.back().law.pull = 0.8f;  // another balancing exponent
  }
  for (Case& c : list) c.law.domain = &c.domain, c.law.penalty = c.penalty.data();
  return list;
}

TEST(Levels, VectorLevelsGiveTheSameBits) {
  for (Case& c : cases()) {
    const auto n = c.x.size();
    std::vector<Symbol> first(n), y(n);
    c.law.domain = &c.domain;
    c.law.penalty = c.penalty.data();
    for (std::uint64_t step = 0; step < 20; ++step) {
      const Stream stream(2, 4, step, Purpose::propose);
      const Proposed p = ops(Level::baseline)
                             .propose_levels(c.law, c.x.data(), c.score.data(), first.data(),
                                             stream, true, c.room.data());
      for (Level level : vector_levels()) {
        const Proposed q = ops(level).propose_levels(c.law, c.x.data(), c.score.data(), y.data(),
                                                     stream, true, c.room.data());
        ASSERT_EQ(y, first) << name(level);
        ASSERT_EQ(p.log_q, q.log_q) << name(level);
        ASSERT_EQ(q.log_q, ops(level).log_q_levels(c.law, c.x.data(), c.score.data(), y.data(),
                                                   c.room.data()));
      }
    }
  }
}

// Float weights have relative errors near 2e-7, so draws differ from the scalar ones only where u
// falls within that of a boundary: less than one coordinate in 1e5. log q has errors of that size
// each.
TEST(Levels, VectorAgreesWithScalar) {
  std::size_t coordinates = 0, different = 0;
  for (Case& c : cases()) {
    c.law.domain = &c.domain;
    c.law.penalty = c.penalty.data();
    const auto n = c.x.size();
    std::vector<Symbol> y(n), z(n);
    for (std::uint64_t step = 0; step < 20; ++step) {
      const Stream stream(2, 4, step, Purpose::propose);
      ops(Level::scalar)
          .propose_levels(c.law, c.x.data(), c.score.data(), y.data(), stream, true, nullptr);
      for (Level level : vector_levels()) {
        ops(level).propose_levels(c.law, c.x.data(), c.score.data(), z.data(), stream, true,
                                  c.room.data());
        for (std::size_t i = 0; i < n; ++i) different += y[i] != z[i];
        coordinates += n;
        EXPECT_NEAR(
            ops(level).log_q_levels(c.law, c.x.data(), c.score.data(), y.data(), c.room.data()),
            ops(Level::scalar).log_q_levels(c.law, c.x.data(), c.score.data(), y.data(), nullptr),
            1e-6 * static_cast<double>(n) + 1e-6);
      }
    }
  }
  EXPECT_LE(static_cast<double>(different), 2 + 1e-5 * static_cast<double>(coordinates));
}

// Every level is drawn as often as it should be: chi-square over 12 levels, 400,000 draws. The
// bound 40 has probability 4e-5 under 11 degrees of freedom.
TEST(Levels, Frequencies) {
  const Domain domain = Domain::categorical(1, 12);
  std::vector<float> score, room(room_for_levels(domain));
  for (int k = 0; k < 12; ++k) score.push_back(0.4f * static_cast<float>(k % 5));
  const float penalty = 0.7f;
  const LevelsLaw law{&domain, 0.5f, &penalty, true, 0};
  const std::vector<Symbol> x(64, 4);
  std::vector<Symbol> y(64);
  const int draws = 400000;
  for (Level level : vector_levels()) {
    std::vector<double> seen(12), p(12);
    double sum = 0;
    for (Symbol k = 0; k < 12; ++k)
      sum += p[k] =
          std::exp(ops(Level::scalar).log_q_levels(law, x.data(), score.data(), &k, nullptr));
    EXPECT_NEAR(sum, 1, 1e-12);
    for (int t = 0; t < draws; ++t) {
      ops(level).propose_levels(law, x.data(), score.data(), y.data(),
                                Stream(6, 0, static_cast<std::uint64_t>(t), Purpose::propose),
                                false, room.data());
      ++seen[y[0]];
    }
    double chi = 0;
    for (std::size_t k = 0; k < 12; ++k)
      chi += std::pow(seen[k] - draws * p[k], 2) / (draws * p[k]);
    EXPECT_LT(chi, 40) << name(level);
  }
}

TEST(Levels, WindowIsClippedAtTheEnds) {
  const Domain domain = Domain::ordered(1, 10);
  std::vector<float> room(room_for_levels(domain));
  const std::vector<float> score(64, 3.0f);
  const float penalty = 0.01f;
  for (Level level : levels()) {
    for (Symbol at = 0; at < 10; ++at) {
      const std::vector<Symbol> x(64, at);
      double sum = 0;
      for (int k = std::max(0, at - 2); k <= std::min(9, at + 2); ++k) {
        const std::vector<Symbol> y(64, static_cast<Symbol>(k));
        sum += std::exp(ops(level).log_q_levels({&domain, 0.5f, &penalty, true, 2}, x.data(),
                                                score.data(), y.data(), room.data()));
      }
      EXPECT_NEAR(sum, 1, 1e-6) << name(level) << " x " << at;
    }
  }
}

void expect_reported(const Domain& domain) {
  std::vector<float> score(64, 0.5f), room(room_for_levels(domain));
  score[static_cast<std::size_t>(domain.score_size()) - 1] = NAN;  // of coordinate 1
  const float penalty = 1;
  std::vector<Symbol> x(64);
  x[0] = 3, x[1] = 4;
  std::vector<Symbol> y(64);
  for (Level level : levels()) {
    const Proposed p =
        ops(level).propose_levels({&domain, 0.5f, &penalty, true, 0}, x.data(), score.data(),
                                  y.data(), Stream(1, 0, 0, Purpose::propose), true, room.data());
    EXPECT_FALSE(p.finite) << name(level);
    EXPECT_TRUE(std::isnan(p.log_q)) << name(level);
    EXPECT_EQ(y[1], x[1]);
  }
}

TEST(Levels, NotANumberIsReported) {
  expect_reported(Domain::categorical(2, 20));
  expect_reported(Domain::categorical(2, 5));
  expect_reported(Domain::ordered(2, 20));
  expect_reported(Domain::ordered(2, 5));
}

}  // namespace
}  // namespace saltus::ops
