#include "saltus/learn/adam.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace saltus {
namespace {

// Computed by hand from the equations: rate 0.1, parameter 1, gradients 0.5, -0.25, 1, 0.
const std::vector<double> kGradients = {0.5, -0.25, 1, 0};
const std::vector<double> kParameters = {0.9000000019999999, 0.8733662987078462, 0.8075551396770897,
                                         0.7536466428097067};

// Many entries with the same history: full registers and what is left over after them.
TEST(Adam, FollowsTheEquations) {
  for (const std::size_t n : {1u, 2u, 7u, 16u, 37u}) {
    Adam adam(n, {.rate = 0.1});
    std::vector<float> parameters(n, 1);
    for (std::size_t t = 0; t < kGradients.size(); ++t) {
      const std::vector<float> gradient(n, static_cast<float>(kGradients[t]));
      adam.step(parameters, gradient);
      for (const float p : parameters) EXPECT_NEAR(double{p}, kParameters[t], 5e-7) << t;
    }
    EXPECT_EQ(adam.steps(), kGradients.size());
  }
}

TEST(Adam, EntriesDoNotMix) {
  Adam adam(5, {.rate = 0.1});
  std::vector<float> parameters = {0, 0, 0, 0, 0};
  adam.step(parameters, std::vector<float>{0, 1, -2, 0, 1e-3f});
  // The first step has the size of the rate, whatever the gradient.
  EXPECT_EQ(parameters[0], 0);
  EXPECT_NEAR(parameters[1], -0.1f, 1e-6f);
  EXPECT_NEAR(parameters[2], 0.1f, 1e-6f);
  EXPECT_EQ(parameters[3], 0);
  EXPECT_NEAR(parameters[4], -0.1f, 1e-5f);
}

TEST(Adam, GoesOnFromItsState) {
  const auto gradient = [](int t) {
    std::vector<float> g(11);
    for (std::size_t i = 0; i < g.size(); ++i) {
      g[i] = static_cast<float>(std::sin(3.0 * t + static_cast<double>(i)));
    }
    return g;
  };
  Adam whole(11, {}), second(11, {});
  std::vector<float> p(11, 0.5f);
  for (int t = 0; t < 10; ++t) whole.step(p, gradient(t));
  ByteWriter out;
  whole.save(out);
  ByteReader in(out.bytes());
  second.restore(in);
  EXPECT_TRUE(in.empty());
  std::vector<float> q = p;
  for (int t = 10; t < 20; ++t) {
    whole.step(p, gradient(t));
    second.step(q, gradient(t));
  }
  EXPECT_EQ(p, q);
}

TEST(Adam, RefusesWhatCannotBe) {
  EXPECT_THROW(Adam(1, {.rate = -1}), UsageError);
  EXPECT_THROW(Adam(1, {.rate = NAN}), UsageError);
  EXPECT_THROW(Adam(1, {.beta1 = 1}), UsageError);
  EXPECT_THROW(Adam(1, {.beta2 = -0.1}), UsageError);
  EXPECT_THROW(Adam(1, {.epsilon = 0}), UsageError);
  Adam adam(2, {});
  std::vector<float> two(2), three(3);
  EXPECT_THROW(adam.step(two, three), DataError);
  EXPECT_THROW(adam.step(three, two), DataError);
}

}  // namespace
}  // namespace saltus
