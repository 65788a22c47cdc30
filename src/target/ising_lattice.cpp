#include "saltus/target/ising_lattice.hpp"

#include <array>

#include "ops/ops.hpp"
#include "saltus/core/error.hpp"

namespace saltus {
namespace {

int sites(int rows, int cols) {
  const std::int64_t n = std::int64_t{rows} * cols;
  if (rows < 1 || cols < 1 || n > 0x7FFFFFFF) {
    throw DataError("a lattice of " + std::to_string(rows) + " by " + std::to_string(cols) +
                    " sites is not possible");
  }
  return static_cast<int>(n);
}

}  // namespace

IsingLattice::IsingLattice(int rows, int cols, bool periodic, double a, double b)
    : rows_(rows),
      cols_(cols),
      periodic_(periodic),
      a_(a),
      b_(b),
      domain_(Domain::spin(sites(rows, cols))) {}

void IsingLattice::evaluate(const At&, Rows<const Symbol> x, double* logp,
                            Rows<float> score) const {
  const ops::Ops& o = ops::active();
  const ops::Lattice lattice{rows_, cols_, periodic_, static_cast<float>(2 * a_),
                             static_cast<float>(b_)};
  for (int r = 0; r < x.rows; ++r) {
    const ops::LatticeSums sums = o.lattice(lattice, x[r], score ? score[r] : nullptr);
    if (logp) logp[r] = a_ * static_cast<double>(sums.pairs) + b_ * static_cast<double>(sums.spins);
  }
}

void IsingLattice::evaluate_exact(const At& at, Rows<const Symbol> x, double* logp,
                                  Rows<double> score) const {
  if (!score) return evaluate(at, x, logp, {});
  const RowBuffer<float> neighbours(x.rows, domain_.dim());  // small integers: exact in float
  const ops::Lattice sums_only{rows_, cols_, periodic_, 1.0f, 0.0f};
  for (int r = 0; r < x.rows; ++r) {
    const float* sum = neighbours.view()[r];
    const ops::LatticeSums sums = ops::active().lattice(sums_only, x[r], neighbours.view()[r]);
    if (logp) logp[r] = a_ * static_cast<double>(sums.pairs) + b_ * static_cast<double>(sums.spins);
    for (int i = 0; i < score.cols; ++i) score[r][i] = 2 * a_ * double{sum[i]} + b_;
  }
}

std::span<const std::int32_t> IsingLattice::neighbours(int i, std::int32_t* room) const {
  const int r = i / cols_, c = i % cols_;
  std::int32_t* end = room;
  // Left and right, or up and down: of two neighbours that are one site there is one edge.
  const auto along = [&](int at, int length, int stride) {
    if (at > 0) *end++ = i - stride;
    if (at + 1 < length) *end++ = i + stride;
    if (!periodic_ || length <= 2) return;
    if (at == 0) *end++ = i + (length - 1) * stride;
    if (at + 1 == length) *end++ = i - (length - 1) * stride;
  };
  along(c, cols_, 1);
  along(r, rows_, cols_);
  return {room, end};
}

int IsingLattice::neighbour_sum(const Symbol* x, int i) const {
  std::array<std::int32_t, 4> room;
  int sum = 0;
  for (std::int32_t j : neighbours(i, room.data())) sum += 2 * x[j] - 1;
  return sum;
}

void IsingLattice::differences(const LocalRow& row, int i, int first, int count,
                               double* out) const {
  const double field = 2 * a_ * neighbour_sum(row.x, i) + b_;
  for (int m = 0; m < count; ++m) out[m] = 2 * (first + m - row.x[i]) * field;
}

void IsingLattice::move(const LocalRow& row, int i, Symbol to) const {
  row.x[i] = to;
  if (!row.score) return;
  std::array<std::int32_t, 4> room;
  const auto a2 = static_cast<float>(2 * a_), b = static_cast<float>(b_);
  for (std::int32_t j : neighbours(i, room.data())) {
    row.score[j] = a2 * static_cast<float>(neighbour_sum(row.x, j)) + b;
  }
}

}  // namespace saltus
