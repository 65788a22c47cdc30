// Bases for tests.
#pragma once

#include <vector>

#include "saltus/target/independent.hpp"

namespace saltus {

// A different probability for every level.
inline Independent uneven_base(const Domain& domain) {
  std::vector<double> p;
  for (int i = 0; i < domain.dim(); ++i) {
    double sum = 0;
    const std::size_t begin = p.size();
    for (int k = 0; k < domain.levels(i); ++k) {
      p.push_back(1 + (i * 3 + k * 2) % 5);
      sum += p.back();
    }
    for (std::size_t m = begin; m < p.size(); ++m) p[m] /= sum;
  }
  return Independent::of_levels(domain, p);
}

}  // namespace saltus
