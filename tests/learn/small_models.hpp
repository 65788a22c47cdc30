// Data for the tests of learning.
#pragma once

#include <algorithm>

#include "saltus/core/philox.hpp"
#include "saltus/diagnose/exact.hpp"

namespace saltus {

// Independent rows from the exact distribution of a small target.
inline RowBuffer<Symbol> exact_draws(const Target& target, int rows, std::uint64_t seed) {
  const StateTable table(target);
  RowBuffer<Symbol> data(rows, target.domain().dim());
  const Stream stream(seed, 0, 0, Purpose::check);
  for (int r = 0; r < rows; ++r) {
    double u = stream.uniform(static_cast<std::uint32_t>(r));
    std::size_t s = 0;
    while (s + 1 < table.size() && u >= table.probability()[s]) u -= table.probability()[s++];
    std::copy_n(table.state(s), data.view().cols, data.view()[r]);
  }
  return data;
}

// Rows of independent fair bits.
inline RowBuffer<Symbol> coins(int rows, int cols, std::uint64_t seed) {
  RowBuffer<Symbol> data(rows, cols);
  for (int r = 0; r < rows; ++r) {
    const Stream stream(seed, static_cast<std::uint32_t>(r), 0, Purpose::check);
    for (int i = 0; i < cols; ++i) {
      data.view()[r][i] = stream.word(static_cast<std::uint32_t>(i)) & 1;
    }
  }
  return data;
}

}  // namespace saltus
