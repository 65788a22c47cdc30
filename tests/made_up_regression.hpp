// Data and states for tests of binary networks.
#pragma once

#include <cmath>

#include "saltus/core/philox.hpp"
#include "saltus/core/rows.hpp"
#include "saltus/target/binary_network.hpp"

namespace saltus {

// Features of unit variance, targets 0 and 1.
inline RegressionRows made_up_rows(int rows, int features, std::uint32_t which = 0) {
  const Stream s(31, which, 0, Purpose::check);
  RegressionRows data;
  data.features = features;
  for (int k = 0; k < rows * features; ++k) {
    data.x.push_back(
        static_cast<float>(std::sqrt(12.0) * (s.uniform(static_cast<std::uint32_t>(k)) - 0.5)));
  }
  for (int r = 0; r < rows; ++r) {
    data.y.push_back(s.uniform(0x10000000u + static_cast<std::uint32_t>(r)) < 0.4 ? 1.0f : 0.0f);
  }
  return data;
}

inline RowBuffer<Symbol> random_states(int rows, int dim, std::uint64_t seed = 1) {
  RowBuffer<Symbol> x(rows, dim);
  for (int r = 0; r < rows; ++r) {
    const Stream s(seed, static_cast<std::uint32_t>(r), 0, Purpose::start);
    for (int i = 0; i < dim; ++i) {
      x.view()[r][i] = static_cast<Symbol>(s.word(static_cast<std::uint32_t>(i)) >> 31);
    }
  }
  return x;
}

}  // namespace saltus
