// Gibbs updates of pairwise models, dense and sparse, and of an Ising lattice: the specification.
#include <cmath>

#include "core/scalar_math.hpp"
#include "ops/ops.hpp"
#include "ops/passes.hpp"

namespace saltus::ops::scalar {
namespace {

// The upper level has log-odds l. Decided by the unlikelier level, whose probability keeps its
// digits.
Symbol draw_level(double l, uint32_t word) {
  const bool unlikely = ((word >> 1) + 0.5) * 0x1p-31 < sigmoid(-std::abs(l));
  return unlikely != (l >= 0);
}

}  // namespace

uint32_t gibbs_dense(const DenseGibbs& m, Symbol* x, float*, const int32_t* order, int count,
                     const Stream& stream, uint32_t first_word) {
  uint32_t changed = 0;
  for (int t = 0; t < count; ++t) {
    const int32_t i = order[t];
    double field = double{m.field[i]};
    for (int j = 0; j < m.matrix.cols; ++j) {
      field += double{m.matrix[i][j]} * (double{m.first_value} + double{m.spacing} * x[j]);
    }
    const double h = double{m.spacing};
    const double l = h * field + h * h * double{m.matrix[i][i]} * (0.5 - x[i]);
    const Symbol drawn = draw_level(l, stream.sequence(first_word + static_cast<uint32_t>(t)));
    changed += drawn != x[i];
    x[i] = drawn;
  }
  return changed;
}

void gibbs_pairs(const PairGibbs& m, Rows<Symbol> x, const int32_t* order, int count,
                 const Stream& first, uint32_t first_word, uint32_t* changed, uint16_t*) {
  for (int r = 0; r < x.rows; ++r) {
    Stream stream = first;
    stream.chain += static_cast<uint32_t>(r);
    for (int t = 0; t < count; ++t) {
      const int32_t i = order[t];
      double sum = x[r][i] ? -double{m.diagonal[i]} : 0.0;
      for (auto e = m.rows.begin[i]; e < m.rows.begin[i + 1]; ++e) {
        if (x[r][m.rows.column[e]]) sum += double{m.rows.weight[e]};
      }
      const double l = double{m.base[i]} + double{m.scale} * sum;
      const Symbol drawn = draw_level(l, stream.sequence(first_word + static_cast<uint32_t>(t)));
      changed[r] += drawn != x[r][i];
      x[r][i] = drawn;
    }
  }
}

namespace {

struct Neighbours {
  std::size_t degree = 0, up = 0;
};

// Along one side of the lattice: the sites before and after `at`, which is itself at x. Two
// neighbours that are one site have one edge.
void add_along(int at, int length, std::ptrdiff_t stride, bool periodic, const Symbol* x,
               Neighbours& n) {
  const auto add = [&](int other) {
    ++n.degree;
    n.up += x[(other - at) * stride];
  };
  const bool wraps = periodic && length > 2;
  if (at > 0) add(at - 1);
  if (at + 1 < length) add(at + 1);
  if (wraps && at == 0) add(length - 1);
  if (wraps && at + 1 == length) add(0);
}

}  // namespace

uint32_t gibbs_lattice(const LatticeGibbs& lattice, int colour, Symbol* x, const Stream& stream,
                       uint32_t first_word) {
  uint32_t changed = 0, word = first_word;
  for (int r = 0; r < lattice.rows; ++r) {
    for (int c = (r + colour) % 2; c < lattice.cols; c += 2) {
      Symbol& site = x[static_cast<std::ptrdiff_t>(r) * lattice.cols + c];
      Neighbours n;
      add_along(c, lattice.cols, 1, lattice.periodic, &site, n);
      add_along(r, lattice.rows, lattice.cols, lattice.periodic, &site, n);
      const Symbol drawn = stream.word(word++) >> 1 < lattice.threshold[n.degree][n.up];
      changed += drawn != site;
      site = drawn;
    }
  }
  return changed;
}

}  // namespace saltus::ops::scalar
