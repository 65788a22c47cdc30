// A tile of proposals: evaluating them, and keeping the one of a row.
#pragma once

#include <algorithm>

#include "saltus/sampler/sampler.hpp"

namespace saltus {

// Rounding that evaluate_near carries from state to state is shed this often.
inline constexpr std::uint64_t kFreshSteps = 256;

// logp (where wanted), score and kept values of the proposals y that belong to the tile's rows,
// from those of the tile where the target can make use of them (Target::cheap_near; the sampler
// then needs the kept values, and carries).
inline void evaluate_proposals(const Target& target, const Tile& tile, Workspace& work,
                               bool want_logp) {
  const Tile& y = work.proposal;
  const int rows = tile.rows();
  const auto part = [rows](auto whole) {
    whole.rows = rows;
    return whole;
  };
  double* logp = want_logp ? y.logp : nullptr;
  if (target.cheap_near() && tile.step % kFreshSteps != 0) {
    target.evaluate_near(work.at(tile.step + 1), {tile.x, tile.score, tile.kept}, part(y.x), logp,
                         part(y.score), part(y.kept));
  } else {
    target.evaluate_kept(work.at(tile.step + 1), part(y.x), logp, part(y.score), part(y.kept));
  }
  work.evaluations.gradient += static_cast<std::uint64_t>(rows);
  if (want_logp) work.evaluations.logp += static_cast<std::uint64_t>(rows);
}

// Row r of the tile becomes that of the proposals.
inline void keep_proposal(Tile& tile, const Tile& y, int r) {
  std::copy_n(y.x[r], tile.x.cols, tile.x[r]);
  std::copy_n(y.score[r], tile.score.cols, tile.score[r]);
  if (tile.kept) std::copy_n(y.kept[r], tile.kept.cols, tile.kept[r]);
  tile.logp[r] = y.logp[r];
}

}  // namespace saltus
