// The Ising lattice between its levels: the same polynomial a v'Wv + b sum_i v_i at any real v.
#include <algorithm>

#include "saltus/target/ising_lattice.hpp"

namespace saltus {
namespace {

void add(const float* from, int count, float* to) {
  for (int c = 0; c < count; ++c) to[c] += from[c];
}

}  // namespace

// The sums (W v)_i of one lattice row after the other. Around a side of length two leads no edge
// that is not there already.
void IsingLattice::evaluate_relaxed(const At& at, Rows<const float> v, double* logp,
                                    Rows<float> gradient) const {
  float* sums = at.scratch.get<float>(0, static_cast<std::size_t>(cols_));
  const bool around_rows = periodic_ && rows_ > 2, around_cols = periodic_ && cols_ > 2;
  const auto a2 = static_cast<float>(2 * a_), b = static_cast<float>(b_);
  for (int r = 0; r < v.rows; ++r) {
    double pairs = 0, spins = 0;
    for (int k = 0; k < rows_; ++k) {
      const auto row = [&](int at_row) {
        return v[r] + static_cast<std::ptrdiff_t>(at_row) * cols_;
      };
      const float* here = row(k);
      std::fill_n(sums, cols_, 0.0f);
      if (k > 0 || around_rows) add(row(k > 0 ? k - 1 : rows_ - 1), cols_, sums);
      if (k + 1 < rows_ || around_rows) add(row(k + 1 < rows_ ? k + 1 : 0), cols_, sums);
      add(here, cols_ - 1, sums + 1);
      add(here + 1, cols_ - 1, sums);
      if (around_cols) {
        sums[0] += here[cols_ - 1];
        sums[cols_ - 1] += here[0];
      }
      for (int c = 0; logp && c < cols_; ++c) {
        pairs += double{here[c]} * double{sums[c]};
        spins += double{here[c]};
      }
      float* out = gradient ? gradient[r] + static_cast<std::ptrdiff_t>(k) * cols_ : nullptr;
      for (int c = 0; out && c < cols_; ++c) out[c] = a2 * sums[c] + b;
    }
    if (logp) logp[r] = a_ * pairs + b_ * spins;
  }
}

}  // namespace saltus
