#include "sampler/gibbs/hamming_ball_draw.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "sampler/informed/expand.hpp"

namespace saltus {

// A change of some coordinates of a block, as one coordinate more than another change has: the one
// at `place`, beyond those that are changed already, goes up `shift` levels, the first one
// following the last. Change 0 is none. Changes that follow from one another by the same place are
// neighbours in the list, by increasing shift.
struct BallDraws::Change {
  std::int32_t parent, first_child;
  std::int32_t place, depth;  // depth: coordinates changed
  Symbol shift;
};

std::optional<int> largest_ball(const Domain& domain, int block, int radius) {
  std::vector<int> levels;
  for (int i = 0; i < domain.dim(); ++i) levels.push_back(domain.levels(i));
  std::partial_sort(levels.begin(), levels.begin() + block, levels.end(), std::greater<>());
  // count[k]: changes of exactly k of the coordinates so far.
  std::vector<double> count{1};
  for (int place = 0; place < block && levels[static_cast<std::size_t>(place)] > 1; ++place) {
    const double others = levels[static_cast<std::size_t>(place)] - 1;
    if (static_cast<int>(count.size()) <= radius) count.push_back(0);
    for (std::size_t k = count.size() - 1; k > 0; --k) count[k] += others * count[k - 1];
    double sum = 0;
    for (double c : count) sum += c;
    if (sum > kMostInBall) return std::nullopt;
  }
  double sum = 0;
  for (double c : count) sum += c;
  return static_cast<int>(sum);
}

std::string missing_for_blocks(const Target& target) {
  if (target.stochastic()) return "log p itself, not a mini-batch estimate of it";
  return target.domain().unbounded() ? "finitely many levels" : "";
}

namespace {

std::size_t size(int n) {
  return static_cast<std::size_t>(n);
}

// An index drawn with probability proportional to exp(log_weight), by inversion; -1 when these are
// no probabilities. `weight` is room for as many numbers.
int draw_index(std::span<const double> log_weight, double u, double* weight) {
  double top = -INFINITY;
  for (double w : log_weight) top = w > top ? w : top;
  double sum = 0;
  for (std::size_t k = 0; k < log_weight.size(); ++k) {
    sum += weight[k] = std::exp(log_weight[k] - top);
  }
  if (!std::isfinite(top) || !std::isfinite(sum)) return -1;
  double left = u * sum;
  std::size_t last = 0;
  for (std::size_t k = 0; k < log_weight.size(); ++k) {
    if (weight[k] == 0) continue;
    last = k;
    left -= weight[k];
    if (left < 0) break;
  }
  return static_cast<int>(last);
}

}  // namespace

Sampler::Needs BallDraws::needs(const Target& target) {
  const LocalMoves* local = target.local_moves();
  if (!local) return {false, false, false};
  return {true, local->need_score(), local->need_target_cache()};
}

BallDraws::BallDraws(const Target& target, Tile& tile, Workspace& work, std::span<StepInfo> info,
                     int block, int radius, int largest)
    : target_(target),
      local_(target.local_moves()),
      domain_(target.domain()),
      tile_(tile),
      work_(work),
      info_(info),
      block_(block),
      radius_(std::min(radius, block)),
      changes_(work.sampler_scratch.get<Change>(0, size(largest))),
      weight_(work.sampler_scratch.get<double>(2, size(largest) + size(domain_.max_levels()))),
      differences_(weight_ + largest),
      levels_(work.sampler_scratch.get<std::int32_t>(5, size(block) * size(tile.rows() + 1))),
      before_(levels_ + block) {
  if (local_ && radius_ > 1)
    saved_ = work.sampler_scratch.get<float>(
        3, size(radius_) * size(tile.score.cols + tile.target_cache.cols));
  for (int r = 0; r < tile.rows(); ++r) info[size(r)] = {};
}

std::int32_t* BallDraws::room_for_blocks() {
  return work_.sampler_scratch.get<std::int32_t>(4, size(block_) * size(tile_.rows()));
}

Stream BallDraws::stream(int r, Purpose purpose) const {
  return work_.stream(tile_, r, purpose);
}

LocalRow BallDraws::local_row(int r) const {
  return {tile_.x[r], local_->need_score() ? tile_.score[r] : nullptr,
          local_->need_target_cache() ? tile_.target_cache[r] : nullptr};
}

void BallDraws::remember(const Blocks& blocks) {
  for (int r = 0; r < tile_.rows(); ++r) {
    for (int k = 0; k < blocks.length; ++k)
      before_[r * block_ + k] = tile_.x[r][blocks.of(r)[size(k)]];
  }
}

// Lists the changes, unless the block has the level counts of the one before.
void BallDraws::use_block(std::span<const std::int32_t> block) {
  bool same = size(length_) == block.size();
  for (std::size_t k = 0; k < block.size(); ++k) {
    const int levels = domain_.levels(block[k]);
    same = same && levels_[k] == levels;
    levels_[k] = levels;
  }
  if (same) return;
  length_ = static_cast<int>(block.size());
  changes_[0] = {-1, 0, -1, 0, 0};
  size_ = 1;
  for (int c = 0; c < size_; ++c) {
    changes_[c].first_child = size_;
    if (changes_[c].depth == radius_) continue;
    for (int place = changes_[c].place + 1; place < length_; ++place) {
      for (int shift = 1; shift < levels_[place]; ++shift) {
        changes_[size_++] = {c, 0, place, changes_[c].depth + 1, static_cast<Symbol>(shift)};
      }
    }
  }
}

Symbol BallDraws::changed_level(const Change& change, const Symbol* x, int i) const {
  const int level = x[i] + change.shift, levels = levels_[change.place];
  return static_cast<Symbol>(level < levels ? level : level - levels);
}

void BallDraws::jump(const Blocks& blocks) {
  remember(blocks);
  jumped_ = true;
  for (int r = 0; r < tile_.rows(); ++r) {
    const std::span<const std::int32_t> block = blocks.of(r);
    use_block(block);
    const double place = stream(r, Purpose::propose).uniform() * size_;
    for (int c = std::min(static_cast<int>(place), size_ - 1); c > 0; c = changes_[c].parent) {
      const int i = block[size(changes_[c].place)];
      const Symbol to = changed_level(changes_[c], tile_.x[r], i);
      if (local_) {
        const LocalRow row = local_row(r);
        local_->differences(row, i, to, 1, differences_);
        ++work_.evaluations.local;
        local_->move(row, i, to);
        tile_.logp[r] += differences_[0];
      } else {
        tile_.x[r][i] = to;
      }
    }
  }
}

void BallDraws::draw(const Blocks& blocks, std::uint32_t update) {
  if (!jumped_) remember(blocks);
  jumped_ = false;
  use_block(blocks.of(0));
  const bool one_list = blocks.stride == 0 || domain_.uniform_levels() != 0;
  const int at_once = local_ || !one_list ? 1 : std::max(1, kMostInBall / size_);
  for (int first = 0; first < tile_.rows(); first += at_once) {
    const int rows = std::min(at_once, tile_.rows() - first);
    use_block(blocks.of(first));
    log_weight_ = work_.sampler_scratch.get<double>(1, size(rows) * size(size_));
    local_ ? weigh_by_moves(blocks, first) : weigh_by_evaluation(blocks, first, rows);
    for (int r = first; r < first + rows; ++r) {
      const std::span<const double> weights(log_weight_ + (r - first) * size_, size(size_));
      const int chosen = draw_index(weights, stream(r, Purpose::level).uniform(update), weight_);
      settle(blocks.of(r), r, chosen, chosen < 0 ? 0.0 : weights[size(chosen)]);
    }
  }
}

void BallDraws::weigh_by_moves(const Blocks& blocks, int r) {
  log_weight_[0] = 0;
  walk(local_row(r), blocks.of(r), 0);
}

// Weighs all changes that follow from change `at`, where the row is now. Score and cached values
// come back from copies, not by moving back, which would leave rounding behind.
void BallDraws::walk(const LocalRow& row, std::span<const std::int32_t> block, int at) {
  const Change& here = changes_[at];
  if (here.depth == radius_ || here.place + 1 == length_) return;
  const bool deeper = here.depth + 1 < radius_ && here.place + 2 < length_;
  const int scores = row.score ? tile_.score.cols : 0,
            kept = row.target_cache ? tile_.target_cache.cols : 0;
  float* copy = saved_ + here.depth * (scores + kept);
  if (deeper) std::copy_n(row.target_cache, kept, std::copy_n(row.score, scores, copy));
  int child = here.first_child;
  for (int place = here.place + 1; place < length_; ++place) {
    const int i = block[size(place)], end = child + levels_[place] - 1;
    const Symbol from = row.x[i];
    local_->differences(row, i, 0, levels_[place], differences_);
    ++work_.evaluations.local;
    for (int c = child; c < end; ++c) {
      log_weight_[c] = log_weight_[at] + differences_[changed_level(changes_[c], row.x, i)];
    }
    for (; child < end; ++child) {
      if (!deeper || place + 1 == length_) continue;
      local_->move(row, i, changed_level(changes_[child], row.x, i));
      walk(row, block, child);
      row.x[i] = from;
      std::copy_n(copy, scores, row.score);
      std::copy_n(copy + scores, kept, row.target_cache);
    }
  }
}

void BallDraws::weigh_by_evaluation(const Blocks& blocks, int first, int rows) {
  const Rows<const Symbol> x{tile_.x[first], rows, tile_.x.cols, tile_.x.stride};
  expand(target_, work_, tile_.step + 1, x, size_, log_weight_, [&](int r, int c, Symbol* y) {
    const std::span<const std::int32_t> block = blocks.of(first + r);
    for (; c > 0; c = changes_[c].parent) {
      const int i = block[size(changes_[c].place)];
      y[i] = changed_level(changes_[c], y, i);
    }
  });
}

// Puts row r to the chosen change of its state, or back to where it was when there is none.
void BallDraws::settle(std::span<const std::int32_t> block, int r, int chosen, double log_weight) {
  StepInfo& info = info_[size(r)];
  Symbol* x = tile_.x[r];
  const std::int32_t* before = before_ + r * block_;
  for (int c = chosen; c > 0; c = changes_[c].parent) {
    const int i = block[size(changes_[c].place)];
    const Symbol to = changed_level(changes_[c], x, i);
    local_ ? local_->move(local_row(r), i, to) : void(x[i] = to);
  }
  if (chosen >= 0) {
    tile_.logp[r] = local_ ? tile_.logp[r] + log_weight : log_weight;
  } else {
    for (std::size_t k = 0; k < block.size(); ++k) x[block[k]] = static_cast<Symbol>(before[k]);
    if (local_) evaluate(r, 1);
    info.acceptance = 0;
    info.accepted = false;
    info.nonfinite = true;
  }
  info.proposed += static_cast<std::uint32_t>(block.size());
  for (std::size_t k = 0; k < block.size(); ++k) info.changed += x[block[k]] != before[k];
}

void BallDraws::evaluate(int first, int rows) {
  const auto part = [&](auto whole, bool wanted) {
    return wanted ? decltype(whole){whole[first], rows, whole.cols, whole.stride}
                  : decltype(whole){};
  };
  target_.evaluate_and_cache(work_.at(tile_.step), part(tile_.x, true), tile_.logp + first,
                             part(tile_.score, local_->need_score()),
                             part(tile_.target_cache, local_->need_target_cache()));
  work_.evaluations.logp += static_cast<std::uint64_t>(rows);
  if (local_->need_score()) work_.evaluations.gradient += static_cast<std::uint64_t>(rows);
}

void BallDraws::finish(std::uint64_t period) {
  ++tile_.step;
  tile_.score_current = local_ && local_->need_score();
  tile_.target_cache_current = local_ && local_->need_target_cache();
  tile_.logp_current = true;
  if (local_ && tile_.step % period == 0) evaluate(0, tile_.rows());
}

}  // namespace saltus
