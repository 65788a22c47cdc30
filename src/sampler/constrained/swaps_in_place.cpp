#include "sampler/constrained/swaps_in_place.hpp"

#include <algorithm>
#include <cmath>

namespace saltus {
namespace {

constexpr float kNothing = -INFINITY;
// A step that touches more than this part of the sites treats all of them alike.
constexpr std::size_t kFew = 8;

}  // namespace

SwapTrees::SwapTrees(int dim, bool two, float* memory)
    : two_(two),
      on_(dim, memory),
      off_(dim, two ? memory + SiteWeights::size(dim) : memory),
      now_(&on_) {}

std::int32_t SwapTrees::draw(double u, double& log_q) {
  if (!std::isfinite(now_->log_total())) {  // nothing to choose: the test will reject
    log_q = NAN;
    return 0;
  }
  const int site = now_->draw(u);
  take(site, log_q);
  return site;
}

void SwapTrees::take(std::int32_t site, double& log_q) {
  log_q += now_->log_weight(site) - now_->log_total();
  now_->set(site, kNothing);
}

void SwapTrees::set(std::int32_t site, Symbol level, float log_weight) {
  const auto i = static_cast<std::size_t>(site);
  SiteWeights& here = two_ && level == 0 ? off_ : on_;
  if (two_) (level == 0 ? on_ : off_).log_weights()[i] = kNothing;
  here.log_weights()[i] = log_weight;
}

void SwapTrees::update(std::span<const std::int32_t> sites) {
  on_.update(sites);
  if (two_) off_.update(sites);
}

void SwapTrees::rebuild() {
  on_.rebuild();
  if (two_) off_.rebuild();
}

SwapsInPlace::SwapsInPlace(const Target& target, Tile& tile, int r, Workspace& work, bool two,
                           int most)
    : domain_(target.domain()),
      moves_(*target.local_moves()),
      work_(work),
      row_{tile.x[r], tile.score[r], moves_.need_target_cache() ? tile.target_cache[r] : nullptr},
      trees_(domain_.dim(), two, tile.sampler_cache[r]),
      degree_(static_cast<std::size_t>(moves_.max_neighbours())),
      most_touched_(static_cast<std::size_t>(domain_.dim()) / kFew + 1),
      cache_size_(row_.target_cache ? static_cast<std::size_t>(target.cache_size()) : 0) {
  saved_ = work.sampler_scratch.get<Saved>(1, most_touched_);
  sorted_ = work.sampler_scratch.get<std::int32_t>(
      2, std::max(most_touched_, static_cast<std::size_t>(most)));
  neighbours_ = work.sampler_scratch.get<std::int32_t>(3, degree_);
  all_scores_ = work.sampler_scratch.get<float>(4, static_cast<std::size_t>(domain_.dim()));
  saved_cache_ = work.sampler_scratch.get<float>(5, cache_size_);
}

void SwapsInPlace::weigh(std::int32_t i) {
  const auto spacing = static_cast<float>(domain_.spacing());
  trees_.set(i, row_.x[i], (row_.x[i] ? -spacing : spacing) * row_.score[i] / 2);
}

void SwapsInPlace::weigh_all() {
  for (int i = 0; i < domain_.dim(); ++i) weigh(i);
  trees_.rebuild();
}

void SwapsInPlace::restore(std::span<const std::int32_t> sites) {
  for (const std::int32_t i : sites) weigh(i);
  std::ranges::copy(sites, sorted_);
  std::sort(sorted_, sorted_ + sites.size());
  trees_.update({sorted_, sites.size()});
}

// Touched sites may be there twice.
void SwapsInPlace::weigh_touched() {
  for (std::size_t t = 0; t < saved_count_; ++t) {
    weigh(saved_[t].site);
    sorted_[t] = saved_[t].site;
  }
  std::sort(sorted_, sorted_ + saved_count_);
  trees_.update({sorted_, saved_count_});
}

void SwapsInPlace::save_around(std::int32_t i) {
  saved_[saved_count_++] = {i, row_.score[i]};
  for (const std::int32_t j : moves_.neighbours(i, neighbours_)) {
    if (j != i) saved_[saved_count_++] = {j, row_.score[j]};
  }
}

double SwapsInPlace::flip(std::span<const std::int32_t> sites) {
  few_ = sites.size() * (degree_ + 1) <= most_touched_;
  if (!few_) std::copy_n(row_.score, domain_.dim(), all_scores_);
  std::copy_n(row_.target_cache, cache_size_, saved_cache_);
  double change = 0;
  for (const std::int32_t i : sites) {
    const auto to = static_cast<Symbol>(1 - row_.x[i]);
    double difference = 0;
    moves_.differences(row_, i, to, 1, &difference);
    change += difference;
    // Scores that are brought up to date count like differences.
    work_.evaluations.local += 1 + moves_.neighbours(i, neighbours_).size();
    if (few_) save_around(i);
    moves_.move(row_, i, to);
  }
  few_ ? weigh_touched() : weigh_all();
  return change;
}

void SwapsInPlace::undo(std::span<const std::int32_t> sites) {
  for (const std::int32_t i : sites) row_.x[i] = static_cast<Symbol>(1 - row_.x[i]);
  std::copy_n(saved_cache_, cache_size_, row_.target_cache);
  if (!few_) {
    std::copy_n(all_scores_, domain_.dim(), row_.score);
    return weigh_all();
  }
  // Backwards: a site that was touched twice gets its oldest value.
  for (std::size_t t = saved_count_; t-- > 0;) row_.score[saved_[t].site] = saved_[t].score;
  weigh_touched();
}

}  // namespace saltus
