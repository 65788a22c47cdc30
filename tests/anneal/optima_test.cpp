// The best states of small models, by enumeration.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "temper/cut16.hpp"
#include "temper/models.hpp"

namespace saltus {
namespace {

// log p of all states of a two-level model; the first coordinate is the lowest bit.
std::vector<double> all_logp(const Target& target) {
  const int dim = target.domain().dim();
  std::vector<double> logp(std::size_t{1} << dim);
  for (std::size_t s = 0; s < logp.size(); ++s) {
    Symbol x[64] = {};
    for (int i = 0; i < dim; ++i) x[i] = static_cast<Symbol>(s >> i & 1);
    logp[s] = logp_of(target, x);
  }
  return logp;
}

// The number of states that no flip improves.
int local_optima(const std::vector<double>& logp) {
  int count = 0;
  for (std::size_t s = 0; s < logp.size(); ++s) {
    bool best = true;
    for (std::size_t bit = 1; bit < logp.size(); bit *= 2) best &= logp[s ^ bit] <= logp[s] + 1e-9;
    count += best;
  }
  return count;
}

TEST(Optima, OfSmallModels) {
  struct Row {
    std::shared_ptr<const Target> target;
    double log_z, best;
    std::ptrdiff_t states;  // with the best log p
    int local;
  };
  for (const Row& row : {Row{glass10(), 18.6674094053, 17.52, 1, 7},
                         {cut16(), 17.4763304363, 14, 6, 104},
                         {ferro8(), 14.7783104356, 14.4, 1, 2}}) {
    std::vector<double> logp = all_logp(*row.target);
    EXPECT_EQ(local_optima(logp), row.local);
    double sum = 0;
    for (const double l : logp) sum += std::exp(l);
    EXPECT_NEAR(std::log(sum), row.log_z, 1e-9);
    EXPECT_NEAR(std::ranges::max(logp), row.best, 1e-9);
    EXPECT_EQ(std::ranges::count_if(logp, [&](double l) { return l > row.best - 1e-9; }),
              row.states);
  }
  std::vector<double> glass = all_logp(*glass10());
  EXPECT_NEAR(glass[0b1010111100], 17.52, 1e-9);  // 0011110101, the first coordinate first
  std::ranges::sort(glass, std::greater{});
  EXPECT_NEAR(glass[1], 17.32, 1e-9);
}

// The integral of the standard deviation of log p from b = .2 to 5, by Simpson's rule.
TEST(Optima, LengthOfTheWayThroughAGlass) {
  const std::vector<double> logp = all_logp(*glass10());
  constexpr int kParts = 2000;
  double sum = 0;
  for (int q = 0; q <= kParts; ++q) {
    const double b = .2 + 4.8 * q / kParts;
    double z = 0, mean = 0, square = 0;
    for (const double of_state : logp) {
      const double l = of_state - 17.52, w = std::exp(b * l);
      z += w, mean += w * l, square += w * l * l;
    }
    const double sigma = std::sqrt(square / z - mean / z * mean / z);
    sum += (q == 0 || q == kParts ? 1 : q % 2 ? 4 : 2) * sigma;
  }
  EXPECT_NEAR(sum * 4.8 / kParts / 3, 4.0611405400, 1e-9);
}

}  // namespace
}  // namespace saltus
