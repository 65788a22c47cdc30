// Flips given a constraint, in spaces that no table holds and with weights far beyond what a
// product of doubles holds: against sums of logarithms.
#include "sampler/constrained/conditional_flips.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace saltus {
namespace {

double log_add(double a, double b) {
  const double top = std::max(a, b);
  return top == -INFINITY ? top : top + std::log(std::exp(a - top) + std::exp(b - top));
}

// log e_m of the weights exp(l_i) of the sites at a level, one site left out.
std::vector<double> log_sums(const std::vector<Symbol>& x, const std::vector<double>& l,
                             Symbol level, int most, std::size_t without) {
  std::vector<double> e(static_cast<std::size_t>(most) + 1, -INFINITY);
  e[0] = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (x[i] != level || i == without) continue;
    for (std::size_t m = e.size() - 1; m > 0; --m) e[m] = log_add(e[m], e[m - 1] + l[i]);
  }
  return e;
}

struct Case {
  int low, high, most;
  double scale, shift;  // of the log weights; the shift is that of ones less that of zeros
};

class SumFlipsOf : public testing::TestWithParam<Case> {};

TEST_P(SumFlipsOf, HaveTheLawOfTheirFormula) {
  const Case c = GetParam();
  const std::size_t n = 60;
  const int ones = (c.low + c.high) / 2;
  std::vector<Symbol> x(n);
  std::fill_n(x.begin(), ones, Symbol{1});
  std::vector<double> l;
  for (std::size_t i = 0; i < n; ++i) {
    l.push_back(c.scale * std::sin(static_cast<double>(7 * i)) + (x[i] ? c.shift : -c.shift) / 2);
  }
  const auto law = conditional_flips(Constraint::sum(static_cast<int>(n), c.low, c.high), c.most);
  const int most = most_swaps(Constraint::sum(static_cast<int>(n), c.low, c.high), c.most);
  // log of the sum over all sets that keep the constraint, those alone that hold a site too
  const auto log_total = [&](std::size_t site) {
    const bool any = site == n;
    const auto on = log_sums(x, l, 1, most, site), off = log_sums(x, l, 0, most, site);
    double total = -INFINITY;
    for (int going = 0; going <= most; ++going) {
      for (int coming = 0; coming <= most; ++coming) {
        const int sum = ones - going + coming;
        if (sum < c.low || sum > c.high) continue;
        const int a = going - (!any && x[site] == 1), b = coming - (!any && x[site] == 0);
        if (a < 0 || b < 0) continue;
        total = log_add(total, on[static_cast<std::size_t>(a)] + off[static_cast<std::size_t>(b)] +
                                   (any ? 0 : l[site]));
      }
    }
    return total;
  };
  Scratch room;
  std::vector<double> in_force = l;
  const double log_z = law->condition(x.data(), in_force, room);
  EXPECT_NEAR(log_z, log_total(n), 1e-9 * std::max(1.0, std::abs(log_z)));
  const int draws = 20000;
  std::vector<int> count(n);
  std::vector<std::int32_t> flips(n);
  for (int d = 0; d < draws; ++d) {
    const Stream stream(3, static_cast<std::uint32_t>(d), 0, Purpose::propose);
    const int size = law->draw(x.data(), in_force, stream, room, flips.data());
    const std::span drawn(flips.data(), static_cast<std::size_t>(size));
    int sum = ones;
    for (const std::int32_t i : drawn) {
      ++count[static_cast<std::size_t>(i)];
      sum += x[static_cast<std::size_t>(i)] ? -1 : 1;
    }
    ASSERT_TRUE(sum >= c.low && sum <= c.high);
    ASSERT_TRUE(std::isfinite(law->log_weight(x.data(), in_force, drawn, room)));
  }
  for (std::size_t i = 0; i < n; ++i) {
    const double p = std::min(1.0, std::exp(log_total(i) - log_total(n)));
    const double error = std::sqrt(p * (1 - p) / draws) + 1e-6;
    EXPECT_NEAR(count[i] / double{draws}, p, 5 * error) << "site " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Sums, SumFlipsOf,
                         testing::Values(Case{20, 20, 0, 1, 0}, Case{20, 20, 3, 2, 0},
                                         Case{30, 30, 0, 150, 0},  // e_m up to e^1400
                                         Case{20, 20, 0, 3, 500},  // all ones would go, zeros stay
                                         Case{10, 30, 0, 100, 0}, Case{15, 25, 5, 3, 8}));

}  // namespace
}  // namespace saltus
