// In which coordinates two states differ, as the terms that lead from a linear image of one to that
// of the other (Ops::add_rows).
#pragma once

#include <algorithm>
#include <array>
#include <cstring>

#include "ops/ops.hpp"

namespace saltus {

// Terms spacing * (y_i - x_i) of the coordinates where y differs from x, in order. Returns their
// number, or -1 when they are more than `limit`.
inline int changes(const Symbol* x, const Symbol* y, int n, float spacing, int limit,
                   ops::ScaledRow* terms) {
  constexpr int kTogether = 8;  // compared at once
  int count = 0;
  for (int begin = 0; begin < n; begin += kTogether) {
    const int end = std::min(n, begin + kTogether);
    if (end - begin == kTogether) {
      std::array<std::uint64_t, 2> a, b;
      std::memcpy(&a, x + begin, sizeof a);
      std::memcpy(&b, y + begin, sizeof b);
      if (((a[0] ^ b[0]) | (a[1] ^ b[1])) == 0) continue;
    }
    for (int i = begin; i < end; ++i) {
      if (x[i] == y[i]) continue;
      if (count == limit) return -1;
      terms[count++] = {i, spacing * static_cast<float>(y[i] - x[i])};
    }
  }
  return count;
}

// So many changes take less time one by one than a product for the whole row: a quarter of the
// inputs, or fewer where the matrix is too large for the caches and every row comes from memory.
inline int few_changes(Rows<const float> matrix) {
  const auto entries = static_cast<std::int64_t>(matrix.rows) * matrix.cols;
  return std::max(1, matrix.rows / (entries <= std::int64_t{1} << 22 ? 4 : 16));
}

}  // namespace saltus
