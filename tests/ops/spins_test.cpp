// Heat-bath sweeps of spins in bits: every level decides as the specification does.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "levels_of_ops.hpp"

namespace saltus::ops {
namespace {

struct RandomGraph {
  std::vector<SpinSite> site;
  std::vector<std::uint32_t> neighbour;
  std::vector<std::int32_t> order;
  int words, most = 0;

  // About `degree` entries at each site; they need not be symmetric.
  RandomGraph(int n, std::uint32_t degree, int words_) : words(words_) {
    const Stream random(11, 0, degree, Purpose::check);
    std::uint32_t at = 0;
    for (int i = 0; i < n; ++i) {
      const auto begin = static_cast<std::uint32_t>(neighbour.size() / kSpinBlock);
      const std::uint32_t entries = random.word(at++) % (2 * degree + 1);
      const std::uint32_t plus = random.word(at++) % (entries + 1);
      for (const std::uint32_t count : {plus, entries - plus}) {
        for (std::uint32_t e = 0; e < count; ++e) add(random.word(at++) % static_cast<unsigned>(n));
        while (neighbour.size() % kSpinBlock) add(static_cast<unsigned>(n));
      }
      const auto minus = static_cast<int>((entries - plus + kSpinBlock - 1) / kSpinBlock);
      const int filled = kSpinBlock * minus - static_cast<int>(entries - plus);
      const int field = static_cast<int>(random.word(at++) % 5) - 2;
      site.push_back({begin, static_cast<std::uint16_t>((plus + kSpinBlock - 1) / kSpinBlock),
                      static_cast<std::uint16_t>(minus),
                      static_cast<std::int16_t>(field - static_cast<int>(entries) - 2 * filled),
                      static_cast<std::int16_t>(static_cast<int>(entries) + std::abs(field))});
      most = std::max<int>(most, site.back().most);
      order.push_back((i * 7 + 3) % n);
    }
  }
  void add(std::uint32_t other) { neighbour.push_back(other * static_cast<std::uint32_t>(words)); }
  SpinGraph view() const { return {site.data(), neighbour.data(), words}; }
};

std::vector<std::uint64_t> odds_with(double slope, int most) {
  std::vector<std::uint64_t> unlikely;
  for (int f = 0; f <= most; ++f) {
    unlikely.push_back(static_cast<std::uint64_t>(std::ldexp(1 / (1 + std::exp(slope * f)), 40)));
  }
  return unlikely;
}

// Spins and gains after a few sweeps.
struct Swept {
  std::vector<std::uint64_t> spins;
  std::vector<std::int32_t> gain;
  bool operator==(const Swept&) const = default;

  Swept(Level level, const RandomGraph& graph, double slope, int groups, std::uint32_t chain = 70)
      : gain(static_cast<std::size_t>(groups * kSpinChains)) {
    const auto unlikely = odds_with(slope, graph.most);
    const SpinGraph view = graph.view();
    for (std::size_t i = 0; i < graph.site.size(); ++i) {
      for (int w = 0; w < view.words; ++w) spins.push_back(i % 3 ? ~std::uint64_t{0} : 0);
    }
    spins.resize(spins.size() + static_cast<std::size_t>(view.words));
    for (std::uint64_t step = 0; step < 3; ++step) {
      ops(level).gibbs_spins(view, {unlikely.data(), graph.most}, spins.data(), graph.order.data(),
                             static_cast<int>(graph.order.size()),
                             Stream(9, chain, step, Purpose::level), groups, gain.data());
    }
  }
  // Those of one of the groups.
  std::vector<std::uint64_t> group(int g, int words) const {
    std::vector<std::uint64_t> own;
    for (auto at = static_cast<std::size_t>(g); at < spins.size();
         at += static_cast<std::size_t>(words)) {
      own.push_back(spins[at]);
    }
    return own;
  }
};

TEST(GibbsOfSpins, EveryLevelIsTheSpecification) {
  for (const int n : {1, 15, 16, 600, 2500}) {
    for (const std::uint32_t degree : {0u, 2u, 60u, 200u}) {
      if (n > 600 && degree != 2) continue;
      for (const int words : {1, 2, 4}) {
        const RandomGraph graph(n, degree, words);
        const int groups = words == 4 ? 3 : words;
        for (const double slope : {0.0, 0.01, 0.3, 4.0}) {
          const Swept expected(Level::scalar, graph, slope, groups);
          for (const Level level : vector_levels()) {
            EXPECT_EQ(Swept(level, graph, slope, groups), expected)
                << name(level) << " n " << n << " degree " << degree << " words " << words
                << " slope " << slope;
          }
        }
      }
    }
  }
}

// A chain does not depend on those beside it, nor on its place among them.
TEST(GibbsOfSpins, GroupsAreIndependent) {
  const RandomGraph narrow(100, 6, 1), wide(100, 6, 4);
  const Swept four(active_level(), wide, 0.2, 4);
  for (int g = 0; g < 4; ++g) {
    const int first = g * kSpinChains;
    const Swept alone(active_level(), narrow, 0.2, 1, 70 + static_cast<std::uint32_t>(first));
    EXPECT_EQ(alone.spins, four.group(g, 4));
    EXPECT_TRUE(std::equal(alone.gain.begin(), alone.gain.end(), four.gain.begin() + first));
  }
  const Swept shifted(active_level(), narrow, 0.2, 1, 75);
  for (int c = 0; c + 5 < kSpinChains; ++c) {
    EXPECT_EQ(shifted.gain[static_cast<std::size_t>(c)],
              four.gain[static_cast<std::size_t>(c + 5)]);
  }
}

// The law of one update, with 2^-40 as the unit: bytes that decide, and those that do not.
TEST(GibbsOfSpins, SingleSpinsHaveTheirProbability) {
  constexpr int kSteps = 20'000;
  for (const double p : {0.4, 0.01, 0.3 / 256}) {
    const SpinSite site{0, 0, 0, 1, 1};
    const std::int32_t order[] = {0};
    const std::uint64_t unlikely[] = {0, static_cast<std::uint64_t>(std::ldexp(p, 40))};
    std::int64_t down = 0;
    for (std::uint64_t step = 0; step < kSteps; ++step) {
      std::int32_t gain[kSpinChains] = {};
      std::uint64_t spins = 0;
      active().gibbs_spins({&site, nullptr, 1}, {unlikely, 1}, &spins, order, 1,
                           Stream(2, 0, step, Purpose::level), 1, gain);
      down += kSpinChains - std::popcount(spins);
    }
    const double n = kSteps * kSpinChains;
    EXPECT_NEAR(static_cast<double>(down) / n, p, 4 * std::sqrt(p * (1 - p) / n));
  }
}

}  // namespace
}  // namespace saltus::ops
