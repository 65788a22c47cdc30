// Ising lattice: sums over neighbours. Compiled once per instruction set (the compiler vectorises
// the loops) and, without vectorisation, as the scalar version: integers are exact in any order.
#include "ops/ops.hpp"
#include "ops/passes.hpp"

namespace saltus::ops::SALTUS_LEVEL_NAMESPACE {
namespace {

// One row of the lattice: its symbols and those above and below, each null where there is none.
struct LatticeRow {
  const Symbol *here, *above, *below;
};

struct RowSums {
  int64_t pairs = 0, ones = 0;
};

inline int at(const Symbol* row, int c) {
  return row ? 2 * row[c] - 1 : 0;
}

inline void site(const Lattice& lattice, const LatticeRow& row, int c, float* score,
                 RowSums& sums) {
  const int cols = lattice.cols;
  int field = at(row.above, c) + at(row.below, c);
  const bool wraps =
      lattice.periodic && cols > 2;  // two columns: the left neighbour is the right one
  if (c > 0)
    field += at(row.here, c - 1);
  else if (wraps)
    field += at(row.here, cols - 1);
  if (c + 1 < cols)
    field += at(row.here, c + 1);
  else if (wraps)
    field += at(row.here, 0);
  sums.pairs += at(row.here, c) * field;
  sums.ones += row.here[c];
  if (score) score[c] = lattice.a2 * static_cast<float>(field) + lattice.b;
}

// Columns 1 .. cols-2, which have both side neighbours, with both rows present.
inline RowSums interior(const Lattice& lattice, const LatticeRow& row, float* score) {
  const Symbol *here = row.here, *above = row.above, *below = row.below;
  const int cols = lattice.cols;
  const float a2 = lattice.a2, b = lattice.b;
  int pairs = 0, ones = 0;
  if (score) {
    for (int c = 1; c < cols - 1; ++c) {
      const int field = 2 * (here[c - 1] + here[c + 1] + above[c] + below[c]) - 4;
      pairs += (2 * here[c] - 1) * field;
      ones += here[c];
      score[c] = a2 * static_cast<float>(field) + b;
    }
  } else {
    for (int c = 1; c < cols - 1; ++c) {
      pairs += (2 * here[c] - 1) * (2 * (here[c - 1] + here[c + 1] + above[c] + below[c]) - 4);
      ones += here[c];
    }
  }
  return {pairs, ones};
}

inline RowSums lattice_row(const Lattice& lattice, const LatticeRow& row, float* score) {
  RowSums sums;
  if (!row.above || !row.below || lattice.cols < 3) {
    for (int c = 0; c < lattice.cols; ++c) site(lattice, row, c, score, sums);
    return sums;
  }
  sums = interior(lattice, row, score);
  site(lattice, row, 0, score, sums);
  site(lattice, row, lattice.cols - 1, score, sums);
  return sums;
}

// Up to 64 sites as bits. Sites that differ across an edge are bits of b ^ (b >> distance), so with
// E edges of one distance, D of them between different spins: their products s s' sum to E - 2 D.
class PackedLattice {
 public:
  PackedLattice(const Lattice& lattice, const Symbol* x) : sites_(lattice.rows * lattice.cols) {
    for (int i = 0; i < sites_; ++i) bits_ |= static_cast<uint64_t>(x[i]) << i;
  }

  // Edges from every site i with bit i of `first` set to site i + distance.
  int64_t edges(uint64_t first, int distance) const {
    const uint64_t differ = (bits_ ^ (bits_ >> distance)) & first;
    return count(first) - 2 * count(differ);
  }
  int64_t spins() const { return 2 * count(bits_) - sites_; }

 private:
  static int64_t count(uint64_t bits) { return __builtin_popcountll(bits); }
  int sites_;
  uint64_t bits_ = 0;
};

inline uint64_t low_bits(int n) {
  return n >= 64 ? ~uint64_t{0} : (uint64_t{1} << n) - 1;
}

inline LatticeSums packed_sums(const Lattice& lattice, const Symbol* x) {
  const int rows = lattice.rows, cols = lattice.cols, sites = rows * cols;
  const PackedLattice packed(lattice, x);
  uint64_t first_column = 0;
  for (int r = 0; r < rows; ++r) first_column |= uint64_t{1} << (r * cols);
  const uint64_t last_column = cols > 1 ? first_column << (cols - 1) : first_column;
  int64_t products = 0;
  if (cols > 1) products += packed.edges(low_bits(sites) & ~last_column, 1);
  if (rows > 1) products += packed.edges(low_bits(sites - cols), cols);
  if (lattice.periodic && cols > 2) products += packed.edges(first_column, cols - 1);
  if (lattice.periodic && rows > 2) products += packed.edges(low_bits(cols), sites - cols);
  return {2 * products, packed.spins()};
}

}  // namespace

LatticeSums lattice(const Lattice& lattice, const Symbol* x, float* score) {
  const int rows = lattice.rows, cols = lattice.cols;
  if (!score && static_cast<int64_t>(rows) * cols <= 64) return packed_sums(lattice, x);
  const bool wraps = lattice.periodic && rows > 2;
  LatticeSums total;
  for (int r = 0; r < rows; ++r) {
    const int up = r > 0 ? r - 1 : wraps ? rows - 1 : -1;
    const int down = r + 1 < rows ? r + 1 : wraps ? 0 : -1;
    const auto row_at = [&](int i) { return i < 0 ? nullptr : x + static_cast<int64_t>(i) * cols; };
    const int64_t begin = static_cast<int64_t>(r) * cols;
    const RowSums sums = lattice_row(lattice, {row_at(r), row_at(up), row_at(down)},
                                     score ? score + begin : nullptr);
    total.pairs += sums.pairs;
    total.spins += 2 * sums.ones - cols;
  }
  return total;
}

}  // namespace saltus::ops::SALTUS_LEVEL_NAMESPACE
