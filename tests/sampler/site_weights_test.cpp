// Weights of sites in blocks of blocks against plain sums, and the balancing functions.
#include "sampler/informed/site_weights.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "saltus/core/philox.hpp"
#include "sampler/informed/balancing.hpp"

namespace saltus {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

const Stream& random_numbers() {
  static const Stream stream(3, 0, 0, Purpose::check);
  return stream;
}

struct Owned {
  std::vector<float> memory;
  SiteWeights weights;
  explicit Owned(int n)
      : memory(static_cast<std::size_t>(SiteWeights::size(n))), weights(n, memory.data()) {}
};

void fill(SiteWeights& weights, double spread) {
  std::uint32_t k = 0;
  for (float& l : weights.log_weights()) {
    l = static_cast<float>(spread * (2 * random_numbers().uniform(k++) - 1));
  }
  weights.rebuild();
}

double plain_log_total(const SiteWeights& weights) {
  double top = -INFINITY, sum = 0;
  for (float l : weights.log_weights()) top = std::max(top, double{l});
  for (float l : weights.log_weights()) sum += std::exp(double{l} - top);
  return top + std::log(sum);
}

// u lies between the sums of probabilities before and after the site that it draws.
void expect_draws_by_probability(const SiteWeights& weights) {
  const double total = plain_log_total(weights);
  std::vector<double> before{0};
  for (float l : weights.log_weights()) {
    before.push_back(before.back() + std::exp(double{l} - total));
  }
  for (double u : {1e-9, 0.01, 0.2, 0.37, 0.5, 0.77, 0.999, 1 - 1e-9}) {
    const auto i = static_cast<std::size_t>(weights.draw(u));
    ASSERT_LT(i, weights.log_weights().size());
    EXPECT_LE(before[i], u + 1e-6);
    EXPECT_GE(before[i + 1], u - 1e-6);
  }
}

TEST(SiteWeights, AgreeWithPlainSumsAfterManyUpdates) {
  for (int n : {1, 2, 16, 63, 64, 65, 4096, 5000, 270000}) {
    for (double spread : {0.0, 3.0, 1000.0}) {
      SCOPED_TRACE(testing::Message() << n << " sites, spread " << spread);
      Owned o(n);
      fill(o.weights, spread);
      EXPECT_NEAR(o.weights.log_total(), plain_log_total(o.weights), 1e-6);
      const int rounds = n > 10000 ? 5 : 50;
      for (int t = 0; t < rounds; ++t) {
        std::vector<std::int32_t> sites;
        for (std::uint32_t k = 0; k < 7; ++k) {
          const std::uint32_t at = 1000000 + 100 * static_cast<std::uint32_t>(t) + 2 * k;
          sites.push_back(static_cast<int>(random_numbers().uniform(at) * n));
          o.weights.log_weights()[static_cast<std::size_t>(sites.back())] =
              static_cast<float>(spread * (2 * random_numbers().uniform(at + 1) - 1));
        }
        std::sort(sites.begin(), sites.end());
        o.weights.update(sites);
      }
      EXPECT_NEAR(o.weights.log_total(), plain_log_total(o.weights), 1e-6);
      expect_draws_by_probability(o.weights);
      // Nothing is carried along: the same bits as from scratch.
      Owned fresh(n);
      std::copy(o.weights.log_weights().begin(), o.weights.log_weights().end(),
                fresh.weights.log_weights().begin());
      fresh.weights.rebuild();
      EXPECT_EQ(std::memcmp(o.memory.data(), fresh.memory.data(), o.memory.size() * sizeof(float)),
                0);
    }
  }
}

TEST(SiteWeights, DrawEverySiteAsOftenAsItsWeight) {
  const int n = 200, draws = 200000;
  Owned o(n);
  fill(o.weights, 2);
  o.weights.set(70, -kInfinity);
  std::vector<int> count(n);
  for (int k = 0; k < draws; ++k) {
    ++count[static_cast<std::size_t>(
        o.weights.draw(random_numbers().uniform(2000000u + static_cast<std::uint32_t>(k))))];
  }
  double chi_square = 0;
  for (int i = 0; i < n; ++i) {
    const double expected = draws * std::exp(o.weights.log_weight(i) - o.weights.log_total());
    const double seen = count[static_cast<std::size_t>(i)];
    if (i == 70) {
      EXPECT_EQ(seen, 0);
    } else {
      chi_square += (seen - expected) * (seen - expected) / expected;
    }
  }
  EXPECT_LT(chi_square, 198 + 5 * std::sqrt(2 * 198.0));
}

// A change reads the blocks that it touches and no other: a NaN elsewhere stays unseen.
TEST(SiteWeights, ChangeReadsOnlyItsBlocks) {
  Owned o(5000);
  fill(o.weights, 2);
  o.weights.log_weights()[4000] = NAN;
  o.weights.set(10, 3.0f);
  EXPECT_TRUE(std::isfinite(o.weights.log_total()));
  o.weights.set(4001, 1.0f);
  EXPECT_TRUE(std::isnan(o.weights.log_total()));
}

TEST(SiteWeights, WithoutWeightOrWithNan) {
  for (int n : {5, 100, 5000}) {
    Owned o(n);
    std::fill(o.weights.log_weights().begin(), o.weights.log_weights().end(), -kInfinity);
    o.weights.rebuild();
    EXPECT_EQ(o.weights.log_total(), -INFINITY);
    o.weights.set(3, -700.0f);
    EXPECT_NEAR(o.weights.log_total(), -700, 1e-9);
    for (double u : {1e-12, 0.5, 1 - 1e-12}) EXPECT_EQ(o.weights.draw(u), 3);
    o.weights.set(4, NAN);
    EXPECT_TRUE(std::isnan(o.weights.log_total()));
    o.weights.set(3, -kInfinity);
    EXPECT_TRUE(std::isnan(o.weights.log_total()));
  }
}

TEST(Balancing, Identity) {
  for (Balancing g : {Balancing::sqrt, Balancing::ratio, Balancing::min, Balancing::max}) {
    for (double d : {-1000.0, -40.0, -3.0, -1e-9, 0.0, 0.3, 2.0, 36.0, 1000.0}) {
      EXPECT_NEAR(log_weight(g, d), d + log_weight(g, -d), 1e-12 * std::max(1.0, std::abs(d)))
          << balancing_name(g) << " " << d;
    }
    EXPECT_TRUE(std::isnan(log_weight(g, NAN)));
    EXPECT_EQ(balancing_setting({{"balancing", balancing_name(g)}}), g);
  }
  EXPECT_EQ(balancing_setting({}), Balancing::sqrt);
  EXPECT_NEAR(log_weight(Balancing::ratio, -1000), -1000, 1e-12);
  EXPECT_NEAR(log_weight(Balancing::ratio, 2), std::log(std::exp(2) / (1 + std::exp(2))), 1e-15);
}

// The heat kernel's flip probability at d = 0.7 after time 0.3 with each of them.
TEST(Balancing, KnownHeatKernels) {
  const double known[4] = {.3148436125, .1731820957, .2416957596, .3976414263};
  for (int g = 0; g < 4; ++g) {
    const double up = std::exp(log_weight(static_cast<Balancing>(g), 0.7)),
                 down = std::exp(log_weight(static_cast<Balancing>(g), -0.7));
    EXPECT_NEAR(up / (up + down) * -std::expm1(-(up + down) * 0.3), known[g], 5e-11);
  }
}

}  // namespace
}  // namespace saltus
