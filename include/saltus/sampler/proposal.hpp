// For samplers with a proposal: evaluating a tile of proposals (Workspace::proposal), testing them,
// and keeping those that are accepted.
#pragma once

#include <algorithm>

#include "saltus/sampler/metropolis.hpp"

namespace saltus {

// Rounding that evaluate_near carries from state to state is shed this often.
inline constexpr std::uint64_t kFreshSteps = 256;

// The first `rows` rows.
template <class T>
Rows<T> first_rows(Rows<T> whole, int rows) {
  whole.rows = rows;
  return whole;
}

// logp (where wanted), score and cached values of the proposals y that belong to the tile's rows,
// from those of the tile where the target can make use of them (Target::cheap_near; the sampler
// then needs the cached values, and accumulates rounding).
inline void evaluate_proposals(const Target& target, const Tile& tile, Workspace& work,
                               bool want_logp) {
  const Tile& y = work.proposal;
  const int rows = tile.rows();
  const auto x = first_rows(y.x, rows);
  const auto score = first_rows(y.score, rows), kept = first_rows(y.target_cache, rows);
  double* logp = want_logp ? y.logp : nullptr;
  if (target.cheap_near() && tile.step % kFreshSteps != 0) {
    target.evaluate_near(work.at(tile.step + 1), {tile.x, tile.score, tile.target_cache}, x, logp,
                         score, kept);
  } else {
    target.evaluate_and_cache(work.at(tile.step + 1), x, logp, score, kept);
  }
  work.evaluations.gradient += static_cast<std::uint64_t>(rows);
  if (want_logp) work.evaluations.logp += static_cast<std::uint64_t>(rows);
}

// The proposals' logp alone, for samplers without gradients.
inline void evaluate_logp(const Target& target, const Tile& tile, Workspace& work) {
  const Tile& y = work.proposal;
  target.evaluate(work.at(tile.step + 1), first_rows(y.x, tile.rows()), y.logp, {});
  work.evaluations.logp += static_cast<std::uint64_t>(tile.rows());
}

// The Metropolis test of row r with its own random number; see `metropolis`.
inline bool metropolis(double log_ratio, const Tile& tile, int r, const Workspace& work,
                       StepInfo& info) {
  return metropolis(log_ratio, work.stream(tile, r, Purpose::accept).uniform(), info);
}

// Tests row r's proposal. When it is accepted, the row becomes the proposal's, with all that
// evaluate_proposals computed.
inline bool test_proposal(double log_ratio, Tile& tile, int r, const Workspace& work,
                          StepInfo& info) {
  if (!metropolis(log_ratio, tile, r, work, info)) return false;
  const Tile& y = work.proposal;
  std::copy_n(y.x[r], tile.x.cols, tile.x[r]);
  std::copy_n(y.score[r], tile.score.cols, tile.score[r]);
  if (tile.target_cache)
    std::copy_n(y.target_cache[r], tile.target_cache.cols, tile.target_cache[r]);
  tile.logp[r] = y.logp[r];
  return true;
}

// The same after evaluate_logp: a new state leaves score and cached values stale.
inline bool test_state(double log_ratio, Tile& tile, int r, const Workspace& work, StepInfo& info) {
  if (!metropolis(log_ratio, tile, r, work, info)) return false;
  std::copy_n(work.proposal.x[r], tile.x.cols, tile.x[r]);
  tile.logp[r] = work.proposal.logp[r];
  if (info.changed > 0) tile.score_current = tile.target_cache_current = false;
  return true;
}

}  // namespace saltus
