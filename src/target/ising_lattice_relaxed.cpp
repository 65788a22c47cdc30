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
  const int rows = rows_, cols = cols_;
  float* sums = at.scratch.get<float>(0, static_cast<std::size_t>(cols));
  const bool around_rows = model_.periodic && rows > 2, around_cols = model_.periodic && cols > 2;
  const auto a2 = static_cast<float>(2 * model_.a), b = static_cast<float>(model_.b);
  for (int r = 0; r < v.rows; ++r) {
    double pairs = 0, spins = 0;
    for (int k = 0; k < rows; ++k) {
      const auto row = [&](int at_row) {
        return v[r] + static_cast<std::ptrdiff_t>(at_row) * cols;
      };
      const float* here = row(k);
      std::fill_n(sums, cols, 0.0f);
      if (k > 0 || around_rows) add(row(k > 0 ? k - 1 : rows - 1), cols, sums);
      if (k + 1 < rows || around_rows) add(row(k + 1 < rows ? k + 1 : 0), cols, sums);
      add(here, cols - 1, sums + 1);
      add(here + 1, cols - 1, sums);
      if (around_cols) {
        sums[0] += here[cols - 1];
        sums[cols - 1] += here[0];
      }
      for (int c = 0; logp && c < cols; ++c) {
        pairs += double{here[c]} * double{sums[c]};
        spins += double{here[c]};
      }
      float* out = gradient ? gradient[r] + static_cast<std::ptrdiff_t>(k) * cols : nullptr;
      for (int c = 0; out && c < cols; ++c) out[c] = a2 * sums[c] + b;
    }
    if (logp) logp[r] = model_.a * pairs + model_.b * spins + model_.constant;
  }
}

}  // namespace saltus
