#include "saltus/target/ising_lattice.hpp"

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

}  // namespace saltus
