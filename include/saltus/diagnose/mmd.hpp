// Maximum mean discrepancy between two sets of states (Gretton et al. 2012), with the kernel
//   k(x, y) = exp(-(1/d) sum_i 1[x_i != y_i]).
#pragma once

#include <cstdint>
#include <vector>

#include "saltus/core/rows.hpp"

namespace saltus {

struct Mmd {
  // mean k_XX + mean k_YY - 2 mean k_XY over all pairs, those of a row with itself included: never
  // negative, and biased upwards (see mmd_floor).
  double v_statistic;
  // Without the pairs of a row with itself: unbiased, and negative at times. NaN when X or Y has
  // one row only.
  double u_statistic;
};

// One set Y, against which many sets X are compared.
class MmdReference {
 public:
  // Throws UsageError when there are no entries. The rows are copied.
  explicit MmdReference(Rows<const Symbol> y);

  // MMD^2. Throws UsageError when the rows of X are not as long as those of Y.
  Mmd squared(Rows<const Symbol> x) const;

  // The mean of k over pairs of different rows of Y: an estimate of E k for mmd_floor.
  double mean_kernel() const { return pairs_yy_ / (0.5 * count_ * (count_ - 1)); }

 private:
  // One bit per entry, for rows of 0 and 1; empty for others.
  using Packed = std::vector<std::uint64_t>;
  Packed pack(Rows<const Symbol> rows) const;
  // The sum of k over pairs of a row of x and a row of y; `later`: only rows of y that stand later.
  double over_pairs(Rows<const Symbol> x, const Packed& packed_x, Rows<const Symbol> y,
                    const Packed& packed_y, bool later) const;

  RowBuffer<Symbol> y_;
  int count_;
  int words_;                   // of a packed row
  Packed packed_;               // Y
  std::vector<double> kernel_;  // by the number of entries that differ
  double pairs_yy_ = 0;         // the sum of k over pairs of different rows of Y, each pair once
};

Mmd mmd_squared(Rows<const Symbol> x, Rows<const Symbol> y);

// What the V-statistic of m and n independent draws from one distribution is on average:
// (1/m + 1/n) (1 - E k), with E k over two independent draws.
double mmd_floor(int m, int n, double mean_kernel);

}  // namespace saltus
