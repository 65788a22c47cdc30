// Heat-bath sweeps of spins in bytes: every level decides as the specification does.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "levels_of_ops.hpp"
#include "saltus/core/rows.hpp"

namespace saltus::ops {
namespace {

struct RandomGraph {
  std::vector<std::int64_t> begin{0}, minus;
  std::vector<std::uint32_t> offset;
  std::vector<std::int32_t> order;
  std::vector<std::int8_t> field;

  // About `degree` entries at each site; they need not be symmetric.
  RandomGraph(int n, std::uint32_t degree) {
    const Stream random(11, 0, degree, Purpose::check);
    std::uint32_t at = 0;
    for (int i = 0; i < n; ++i) {
      const std::uint32_t entries = random.word(at++) % (2 * degree + 1);
      for (std::uint32_t e = 0; e < entries; ++e) {
        if (e == entries / 2) minus.push_back(static_cast<std::int64_t>(offset.size()));
        offset.push_back(kSpinChains * (random.word(at++) % static_cast<unsigned>(n)));
      }
      if (entries == 0) minus.push_back(static_cast<std::int64_t>(offset.size()));
      begin.push_back(static_cast<std::int64_t>(offset.size()));
      field.push_back(static_cast<std::int8_t>(random.word(at++) % 5) - 2);
      order.push_back((i * 7 + 3) % n);
    }
  }
  SpinGraph view() const {
    return {static_cast<int>(field.size()), begin.data(), minus.data(), offset.data(),
            field.data()};
  }
};

TEST(GibbsOfSpins, EveryLevelIsTheSpecification) {
  for (const int n : {1, 15, 16, 600}) {
    for (const std::uint32_t degree : {0u, 2u, 60u, 200u}) {
      const RandomGraph graph(n, degree);
      for (const double slope : {0.0, 0.01, 0.3, 4.0}) {
        std::vector<std::uint64_t> unlikely;
        for (int f = 0; f < 500; ++f) {
          unlikely.push_back(
              static_cast<std::uint64_t>(std::ldexp(1 / (1 + std::exp(slope * f)), 40)));
        }
        const SpinOdds odds{unlikely.data()};
        const RowBuffer<std::int8_t> expected(1, n * kSpinChains);
        std::vector<std::int32_t> gains(kSpinChains);
        const auto sweep = [&](Level level, std::int8_t* spins, std::int32_t* gain) {
          for (std::int64_t k = 0; k < std::int64_t{n} * kSpinChains; ++k) {
            spins[k] = k % 3 ? 1 : -1;
          }
          for (std::uint64_t step = 0; step < 3; ++step) {
            ops(level).gibbs_spins(graph.view(), odds, spins, graph.order.data(), n,
                                   Stream(9, 70, step, Purpose::level), gain);
          }
        };
        sweep(Level::scalar, expected.view().data, gains.data());
        for (const Level level : vector_levels()) {
          const RowBuffer<std::int8_t> spins(1, n * kSpinChains);
          std::vector<std::int32_t> gain(kSpinChains);
          sweep(level, spins.view().data, gain.data());
          EXPECT_EQ(gain, gains) << name(level);
          EXPECT_TRUE(std::ranges::equal(spins.view().row(0), expected.view().row(0)))
              << name(level) << " n " << n << " degree " << degree << " slope " << slope;
        }
      }
    }
  }
}

// The law of one update, with 2^-40 as the unit: bytes that decide, and those that do not.
TEST(GibbsOfSpins, SingleSpinsHaveTheirProbability) {
  constexpr int kSteps = 20'000;
  for (const double p : {0.4, 0.01, 0.3 / 256}) {
    const std::int64_t begin[] = {0, 0}, minus[] = {0};
    const std::int8_t field[] = {1};
    const std::int32_t order[] = {0};
    std::vector<std::uint64_t> unlikely(kMostInByte + 1);
    unlikely[1] = static_cast<std::uint64_t>(std::ldexp(p, 40));
    const SpinOdds odds{unlikely.data()};
    alignas(64) std::int8_t spins[kSpinChains] = {};
    std::int64_t down = 0;
    for (std::uint64_t step = 0; step < kSteps; ++step) {
      std::int32_t gain[kSpinChains] = {};
      active().gibbs_spins({1, begin, minus, nullptr, field}, odds, spins, order, 1,
                           Stream(2, 0, step, Purpose::level), gain);
      for (const std::int8_t s : spins) down += s < 0;
    }
    const double n = kSteps * kSpinChains;
    EXPECT_NEAR(static_cast<double>(down) / n, p, 4 * std::sqrt(p * (1 - p) / n));
  }
}

}  // namespace
}  // namespace saltus::ops
