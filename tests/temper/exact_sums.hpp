// Laws along a ladder of temperatures, and kernels, by sums over all states.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "saltus/diagnose/exact.hpp"
#include "saltus/target/tempered.hpp"
#include "saltus/temper/ladder.hpp"

namespace saltus {

using Numbers = std::vector<double>;

inline void expect_near(const Numbers& found, const Numbers& expected, double tolerance = 1e-9) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t k = 0; k < found.size(); ++k) EXPECT_NEAR(found[k], expected[k], tolerance) << k;
}

inline Independent uniform(const Target& target) {
  return Independent::uniform(target.domain());
}

// The law at every beta of a ladder, and V of every state.
struct Path {
  std::vector<Numbers> laws;
  Numbers v;

  Path(const Target& model, const Independent& base, const Numbers& betas) {
    Tempered path(model, base);
    for (const double beta : betas) {
      path.set_beta(beta);
      const StateTable table(path);
      laws.emplace_back(table.probability().begin(), table.probability().end());
    }
    const StateTable table(model);
    for (std::size_t s = 0; s < table.size(); ++s) {
      v.push_back(table.logp(s) - base.log_probability(table.state(s)));
    }
  }
};

inline Numbers exact_rejection(const Target& model, const Independent& base, const Numbers& betas) {
  const Path path(model, base, betas);
  Numbers r;
  for (std::size_t k = 0; k + 1 < betas.size(); ++k) {
    double accepted = 0;
    for (std::size_t s = 0; s < path.v.size(); ++s) {
      for (std::size_t t = 0; t < path.v.size(); ++t) {
        accepted += path.laws[k][s] * path.laws[k + 1][t] *
                    swap_probability(betas[k], betas[k + 1], path.v[s], path.v[t]);
      }
    }
    r.push_back(1 - accepted);
  }
  return r;
}

// |lambda_2| of a kernel of n states with this law, by iteration on functions of mean 0.
inline double second_eigenvalue(const Numbers& matrix, const Numbers& law, int iterations) {
  const std::size_t n = law.size();
  Numbers f(n), next(n);
  for (std::size_t s = 0; s < n; ++s) f[s] = std::sin(1.0 + static_cast<double>(s * s % 97));
  double ratio = 0;
  for (int i = 0; i < iterations; ++i) {
    double mean = 0, before = 0, after = 0;
    for (std::size_t s = 0; s < n; ++s) mean += law[s] * f[s];
    for (double& v : f) v -= mean;
    for (std::size_t s = 0; s < n; ++s) {
      next[s] = std::inner_product(f.begin(), f.end(),
                                   matrix.begin() + static_cast<std::ptrdiff_t>(s * n), 0.0);
      before += law[s] * f[s] * f[s], after += law[s] * next[s] * next[s];
    }
    ratio = std::sqrt(after / before);
    for (std::size_t s = 0; s < n; ++s) f[s] = next[s] / std::sqrt(after);
  }
  return ratio;
}

inline Numbers product(const Numbers& a, const Numbers& b, std::size_t n) {
  Numbers both(n * n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t m = 0; m < n; ++m) {
      for (std::size_t j = 0; j < n; ++j) both[i * n + j] += a[i * n + m] * b[m * n + j];
    }
  }
  return both;
}

inline Numbers after(const Numbers& law, const Numbers& matrix) {
  const std::size_t n = law.size();
  Numbers next(n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) next[j] += law[i] * matrix[i * n + j];
  }
  return next;
}

}  // namespace saltus
