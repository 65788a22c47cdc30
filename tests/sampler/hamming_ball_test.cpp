// The Hamming ball sampler against known numbers, and a wrong version of it.
#include "saltus/sampler/hamming_ball.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "dlp_helpers.hpp"
#include "saltus/core/error.hpp"
#include "saltus/run/ensemble.hpp"
#include "saltus/sampler/registry.hpp"
#include "saltus/target/function.hpp"
#include "saltus/target/poisson.hpp"
#include "saltus/target/rbm.hpp"

namespace saltus {
namespace {

Rbm small_rbm() {
  return Rbm({.8, -1.2, .5, -.4, .9, 1.5}, {-.2, .4, -.6}, {.1, -.3});
}

TEST(HammingBall, RowOfTheSmallRbm) {
  const Rbm rbm = small_rbm();
  const StateTable table(rbm);
  const Matrix t(HammingBall(rbm.domain(), 3, 1), table);
  const double expected[] = {.1582760043, .1398637801, .1241792603, .212562911,
                             .1055582746, .1542977764, .1052619933, 0};
  for (int y = 0; y < 8; ++y) EXPECT_NEAR(t(0, y), expected[y], 1e-9) << y;
}

// Two bits that differ in more than the radius are joined by no centre.
int distance(int x, int y) {
  return __builtin_popcount(static_cast<unsigned>(x ^ y));
}

// The centre drawn with the weight `stay` on the state itself instead of 1/4.
class WrongCentre final : public Sampler, public Enumerable {
 public:
  explicit WrongCentre(double stay) : stay_(stay) {}
  std::string name() const override { return "wrong"; }
  std::vector<Parameter> parameters() const override { return {}; }
  bool exact() const override { return true; }
  bool reversible() const override { return true; }
  void step(const Target&, Tile&, Workspace&, std::span<StepInfo>) const override {}
  const Enumerable* enumerable() const override { return this; }
  void transition_matrix(const StateTable& table, const When&, Rows<double> matrix,
                         std::span<double> acceptance) const override {
    for (int x = 0; x < 8; ++x) {
      std::fill_n(matrix[x], 8, 0.0);
      for (int u = 0; u < 8; ++u) {
        if (distance(x, u) > 1) continue;
        double ball = 0;
        for (int y = 0; y < 8; ++y) ball += distance(u, y) < 2 ? pi(table, y) : 0;
        for (int y = 0; y < 8; ++y) {
          if (distance(u, y) > 1) continue;
          matrix[x][y] += (x == u ? stay_ : (1 - stay_) / 3) * pi(table, y) / ball;
        }
      }
      acceptance[static_cast<std::size_t>(x)] = 1;
    }
  }

 private:
  static double pi(const StateTable& table, int y) {
    return table.probability()[static_cast<std::size_t>(y)];
  }
  double stay_;
};

TEST(HammingBall, ACentreThatIsNotUniformIsFound) {
  const Rbm rbm = small_rbm();
  const StateTable table(rbm);
  EXPECT_LT(check_transitions(WrongCentre(0.25), table).invariance, 1e-15);
  const double e = std::exp(1.0), e3 = std::exp(3.0);
  const Conformance wrong = check_transitions(WrongCentre(e / (e + e3)), table);
  EXPECT_NEAR(wrong.invariance, 3.143e-3, 5e-7);
  EXPECT_NEAR(wrong.l1, 1.639e-2, 5e-6);
}

// One block of 3, radius 1: u and 3 changes of it, as evaluations or as differences.
TEST(HammingBall, CountsItsEvaluations) {
  const Rbm rbm = small_rbm();
  const Function plain(Domain::binary(3), [](std::span<const double> v, std::span<double>) {
    return 0.5 * v[0] - v[1] * v[2];
  });
  struct None final : StepObserver {
    bool wants_logp(std::uint64_t) const override { return true; }
    void after_step(const Tile&, std::span<const StepInfo>, std::uint64_t) override {}
  } none;
  Ensemble ensemble(plain, 6, 3, 1, 1);
  ensemble.start_random();
  ensemble.evaluate();
  ensemble.advance(HammingBall(plain.domain(), 3, 1), 10, none);
  EXPECT_EQ(ensemble.evaluations().logp, 6u * 10 * 4);
  Ensemble local(rbm, 2, 2, 1, 1);
  local.start_random();
  local.evaluate();
  local.advance(HammingBall(rbm.domain(), 3, 1), 10, none);
  EXPECT_GE(local.evaluations().local, 2u * 10 * 3);
  EXPECT_LE(local.evaluations().local, 2u * 10 * 4);
  EXPECT_EQ(local.evaluations().logp, 0u);
}

TEST(HammingBall, RefusesWhatItCannotDo) {
  EXPECT_THROW(HammingBall(Domain::binary(100), 100, 5), UsageError);
  EXPECT_NO_THROW(HammingBall(Domain::binary(100), 100, 2));
  EXPECT_THROW(make_sampler("hamming_ball", Poisson({1.0}), {}), UsageError);
}

}  // namespace
}  // namespace saltus
