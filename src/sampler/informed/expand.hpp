// log p of variants of states, where the target has no cheaper way: a tile is expanded into one row
// per variant and evaluated as a whole.
#pragma once

#include <algorithm>

#include "saltus/sampler/sampler.hpp"

namespace saltus {

// logp[r * variants + m] = logp of variant m of row r of x. `vary(r, m, y)` is given a copy y of
// row r and turns it into variant m. At most kExpandedRows rows are evaluated in one call. Uses
// slot 7 of work.sampler_scratch.
template <class Vary>
void expand(const Target& target, Workspace& work, std::uint64_t step, Rows<const Symbol> x,
            int variants, double* logp, Vary&& vary) {
  constexpr int kExpandedRows = 1024;
  const int stride = padded(x.cols), total = x.rows * variants;
  const int most = std::min(total, kExpandedRows);
  Symbol* room = work.sampler_scratch.get<Symbol>(
      7, static_cast<std::size_t>(most) * static_cast<std::size_t>(stride));
  for (int begin = 0; begin < total; begin += most) {
    const Rows<Symbol> y{room, std::min(most, total - begin), x.cols, stride};
    for (int v = 0; v < y.rows; ++v) {
      const int r = (begin + v) / variants, m = (begin + v) % variants;
      std::copy_n(x[r], x.cols, y[v]);
      vary(r, m, y[v]);
    }
    target.evaluate(work.at(step), y, logp + begin, {});
  }
  work.evaluations.logp += static_cast<std::uint64_t>(total);
}

}  // namespace saltus
