#include "sampler/constrained/additions.hpp"

#include <algorithm>

namespace saltus {
namespace {

constexpr int kTogether = 32;  // states evaluated in one call

}  // namespace

Sampler::Needs Additions::needs(const Target& target, bool logp) {
  const LocalMoves* moves = target.local_moves();
  return {logp, moves && moves->need_score(), moves && moves->need_target_cache()};
}

LocalRow Additions::row(const Tile& tile, int r) const {
  const Sampler::Needs n = needs(target_, false);
  return {tile.x[r], n.score ? tile.score[r] : nullptr,
          n.target_cache ? tile.target_cache[r] : nullptr};
}

LocalRow Additions::copy(const Tile& tile, int r) const {
  const LocalRow from = row(tile, r);
  const auto room = [](int cols) { return static_cast<std::size_t>(padded(cols)); };
  LocalRow to{work_.sampler_scratch.get<Symbol>(0, room(tile.x.cols)), nullptr, nullptr};
  std::copy_n(from.x, tile.x.cols, to.x);
  if (from.score) {
    to.score = work_.sampler_scratch.get<float>(1, room(tile.score.cols));
    std::copy_n(from.score, tile.score.cols, to.score);
  }
  if (from.target_cache) {
    to.target_cache = work_.sampler_scratch.get<float>(2, room(tile.target_cache.cols));
    std::copy_n(from.target_cache, tile.target_cache.cols, to.target_cache);
  }
  return to;
}

void Additions::compute(const LocalRow& row, int i, std::span<const std::int32_t> places,
                        double* out) const {
  set(row, i, 0);
  const auto count = static_cast<int>(places.size());
  if (moves_) {
    for (int k = 0; k < count; ++k)
      moves_->differences(row, places[static_cast<std::size_t>(k)], 1, 1, out + k);
    work_.evaluations.local += places.size();
    return;
  }
  const int stride = padded(dim());
  auto* states = work_.sampler_scratch.get<Symbol>(
      1, static_cast<std::size_t>(kTogether) * static_cast<std::size_t>(stride));
  for (int begin = 0; begin < count; begin += kTogether) {
    const Rows<Symbol> rows{states, std::min(kTogether, count - begin), dim(), stride};
    for (int r = 0; r < rows.rows; ++r) {
      std::copy_n(row.x, dim(), rows[r]);
      rows[r][places[static_cast<std::size_t>(begin + r)]] = 1;
    }
    target_.evaluate(work_.at(step_), rows, out + begin, {});
  }
  work_.evaluations.logp += places.size();
}

void Additions::set(const LocalRow& row, int i, Symbol to) const {
  if (moves_) {
    moves_->move(row, i, to);
  } else {
    row.x[i] = to;
  }
}

}  // namespace saltus
