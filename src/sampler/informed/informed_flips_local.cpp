// The step in place: a row is moved, and put back from saved values when the test rejects. Never by
// moving back, which would leave rounding behind.
#include "saltus/sampler/proposal.hpp"
#include "sampler/informed/informed_flips.hpp"

namespace saltus {
namespace {

// A step that touches more than this part of the sites treats all of them alike.
constexpr int kFew = 8;

}  // namespace

class InformedFlips::LocalStep {
 public:
  LocalStep(const InformedFlips& flips, Tile& tile, int r, Workspace& work)
      : flips_(flips),
        domain_(flips.domain_),
        moves_(*flips.moves_),
        row_{tile.x[r], flips.keeps_score() ? tile.score[r] : nullptr,
             moves_.need_target_cache() ? tile.target_cache[r] : nullptr},
        weights_(flips.weights_of(tile, r)),
        work_(work),
        room_(flips.level_room(work)),
        most_touched_(static_cast<std::size_t>(domain_.dim() / kFew + 1)) {
    const auto neighbours = static_cast<std::size_t>(moves_.max_neighbours());
    touched_ = work.sampler_scratch.get<std::int32_t>(5, 2 * most_touched_ + neighbours);
    sorted_ = touched_ + most_touched_;
    neighbour_room_ = sorted_ + most_touched_;
  }

  SiteWeights& weights() { return weights_; }

  auto differences() {
    return [this](int i, LevelWeights::Range range, double* out) {
      if (flips_.weights_ == Weights::estimated) {
        return flips_.levels_.estimate(row_.x, row_.score, i, range, out);
      }
      ++work_.evaluations.local;
      moves_.differences(row_, i, range.first, range.count, out);
    };
  }

  void weigh_all() {
    if (flips_.weights_ == Weights::estimated) {
      return flips_.weigh_estimated(row_.x, row_.score, weights_, work_);
    }
    for (int i = 0; i < domain_.dim(); ++i) weigh(i);
    weights_.rebuild();
  }

  // Makes the changes; returns by how much log p differs.
  double move(std::span<const SiteChange> changes) {
    const auto touches = changes.size() * (static_cast<std::size_t>(moves_.max_neighbours()) + 1);
    few_ = touches < most_touched_;
    take_saved_memory();
    if (!few_) save_all();
    if (row_.target_cache) std::copy_n(row_.target_cache, cache_size(), saved_kept_);
    double difference = 0;
    for (const SiteChange& c : changes) {
      double d = 0;
      moves_.differences(row_, c.site, c.to, 1, &d);
      ++work_.evaluations.local;
      difference += d;
      if (few_) save_around(c.site);
      moves_.move(row_, c.site, c.to);
      // Scores that were brought up to date count like differences.
      if (row_.score) {
        work_.evaluations.local += moves_.neighbours(c.site, neighbour_room_).size();
      }
    }
    if (!few_) {
      weigh_all();
      return difference;
    }
    sort_touched();
    for (std::size_t t = 0; t < sorted_count_; ++t) weigh(sorted_[t]);
    weights_.update({sorted_, sorted_count_});
    return difference;
  }

  void undo(std::span<const SiteChange> changes) {
    for (const SiteChange& c : changes) row_.x[c.site] = c.from;
    if (row_.target_cache) std::copy_n(saved_kept_, cache_size(), row_.target_cache);
    if (!few_) {
      std::copy_n(saved_weights_, flips_.cache_size(), weights_.log_weights().data());
      if (row_.score) std::copy_n(saved_scores_, domain_.score_size(), row_.score);
      return;
    }
    // Backwards: a site that was touched twice gets its oldest values.
    for (std::size_t t = touched_count_; t-- > 0;) {
      const std::int32_t j = touched_[t];
      weights_.log_weights()[static_cast<std::size_t>(j)] = saved_weights_[t];
      if (row_.score)
        std::copy_n(saved_score(t), score_width(j), row_.score + domain_.score_begin(j));
    }
    weights_.update({sorted_, sorted_count_});
  }

 private:
  int cache_size() const { return flips_.target_.cache_size(); }
  int score_width(int j) const {
    return domain_.kind() == Domain::Kind::ordered ? 1 : domain_.levels(j);
  }
  std::size_t widest_score() const {
    return domain_.kind() == Domain::Kind::ordered ? 1
                                                   : static_cast<std::size_t>(domain_.max_levels());
  }
  float* saved_score(std::size_t t) const { return saved_scores_ + t * widest_score(); }

  void take_saved_memory() {
    const std::size_t weights =
        few_ ? most_touched_ : static_cast<std::size_t>(flips_.cache_size());
    const std::size_t scores =
        few_ ? most_touched_ * widest_score() : static_cast<std::size_t>(domain_.score_size());
    saved_weights_ = work_.sampler_scratch.get<float>(
        6, weights + scores + static_cast<std::size_t>(cache_size()));
    saved_scores_ = saved_weights_ + weights;
    saved_kept_ = saved_scores_ + scores;
  }

  void save_all() {
    std::copy_n(weights_.log_weights().data(), flips_.cache_size(), saved_weights_);
    if (row_.score) std::copy_n(row_.score, domain_.score_size(), saved_scores_);
  }

  void save_around(int i) {
    save_site(i);
    for (const std::int32_t j : moves_.neighbours(i, neighbour_room_)) save_site(j);
  }

  void save_site(std::int32_t j) {
    const std::size_t t = touched_count_++;
    touched_[t] = j;
    saved_weights_[t] = weights_.log_weights()[static_cast<std::size_t>(j)];
    if (row_.score)
      std::copy_n(row_.score + domain_.score_begin(j), score_width(j), saved_score(t));
  }

  void sort_touched() {
    std::copy_n(touched_, touched_count_, sorted_);
    std::sort(sorted_, sorted_ + touched_count_);
    sorted_count_ =
        static_cast<std::size_t>(std::unique(sorted_, sorted_ + touched_count_) - sorted_);
  }

  void weigh(int i) {
    const Symbol now = row_.x[i];
    const LevelWeights::Range range = flips_.levels_.range(i, now);
    differences()(i, range, room_);
    weights_.log_weights()[static_cast<std::size_t>(i)] =
        static_cast<float>(flips_.levels_.weigh(range, now, room_));
  }

  const InformedFlips& flips_;
  const Domain& domain_;
  const LocalMoves& moves_;
  LocalRow row_;
  SiteWeights weights_;
  Workspace& work_;
  double* room_;
  std::size_t most_touched_, touched_count_ = 0, sorted_count_ = 0;
  std::int32_t *touched_, *sorted_, *neighbour_room_;
  float *saved_weights_ = nullptr, *saved_scores_ = nullptr, *saved_kept_ = nullptr;
  bool few_ = false;
};

void InformedFlips::weigh_local(Tile& tile, Workspace& work) const {
  for (int r = 0; r < tile.rows(); ++r) LocalStep(*this, tile, r, work).weigh_all();
}

void InformedFlips::step_local(Tile& tile, Workspace& work, std::span<StepInfo> info) const {
  const auto dim = static_cast<std::uint64_t>(domain_.dim());
  if (tile.step % std::max(kFreshSteps, dim) == 0) {
    target_.evaluate_and_cache(work.at(tile.step), tile.x, tile.logp,
                               keeps_score() ? tile.score : Rows<float>{},
                               moves_->need_target_cache() ? tile.target_cache : Rows<float>{});
    work.evaluations.logp += static_cast<std::uint64_t>(tile.rows());
    if (keeps_score()) work.evaluations.gradient += static_cast<std::uint64_t>(tile.rows());
    weigh_local(tile, work);
  }
  for (int r = 0; r < tile.rows(); ++r) {
    StepInfo& done = info[static_cast<std::size_t>(r)];
    FlipProposal p = proposals(1, work)[0];
    done.proposed = 0;
    if (!draw_sites(tile, r, work, p)) {
      metropolis(kNoProposal, 0.5, done);
      continue;
    }
    LocalStep local(*this, tile, r, work);
    double* room = level_room(work);
    change_sites(levels_, tile.x[r], work.stream(tile, r, Purpose::level), room, p,
                 local.differences());
    done.proposed = static_cast<std::uint32_t>(p.changes.size());
    const double difference = local.move(p.changes);
    const double log_ratio =
        difference - p.log_forward +
        log_backward(choice_, levels_, local.weights(), p, room, local.differences());
    if (metropolis(log_ratio, tile, r, work, done)) {
      tile.logp[r] += difference;
    } else {
      local.undo(p.changes);
    }
  }
  tile.score_current = keeps_score();
  tile.target_cache_current = !tile.target_cache || moves_->need_target_cache();
}

}  // namespace saltus
