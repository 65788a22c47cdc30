// A step of swaps in place, for targets that change single coordinates at little cost: a state is
// moved, and its scores are put back from saved values when the test rejects. The weights of the
// sites lie in sums over blocks (SiteWeights), one tree for each side, so that a step costs the
// neighbours of the sites it changes, not all sites.
#pragma once

#include "saltus/sampler/sampler.hpp"
#include "sampler/constrained/swap_sides.hpp"
#include "sampler/informed/site_weights.hpp"

namespace saltus {

// The trees of one row, in the sampler's cache. `two`: one for each level, where a site has no
// weight at the other; otherwise a single one.
class SwapTrees final : public Sides {
 public:
  static int size(int dim, bool two) { return (two ? 2 : 1) * SiteWeights::size(dim); }
  SwapTrees(int dim, bool two, float* memory);

  void begin(Side side) override { now_ = two_ && *side == 0 ? &off_ : &on_; }
  std::int32_t draw(double u, double& log_q) override;
  void take(std::int32_t site, double& log_q) override;

  // The weight of a site at a level; `update` or `rebuild` follow.
  void set(std::int32_t site, Symbol level, float log_weight);
  void update(std::span<const std::int32_t> sites);  // in increasing order
  void rebuild();

 private:
  bool two_;
  SiteWeights on_, off_;
  SiteWeights* now_;
};

// The state of one row, with its trees, as it moves.
class SwapsInPlace {
 public:
  // Uses slots 1 to 5 of the sampler's memory; `most` sites change.
  SwapsInPlace(const Target& target, Tile& tile, int r, Workspace& work, bool two, int most);

  SwapTrees& trees() { return trees_; }
  const Symbol* x() const { return row_.x; }
  void weigh_all();
  // Flips the sites, and weighs anew what depends on them. Returns the change of log p.
  double flip(std::span<const std::int32_t> sites);
  // Gives those sites their weights back that were drawn or taken.
  void restore(std::span<const std::int32_t> sites);
  // After `flip` of these sites: everything is as before.
  void undo(std::span<const std::int32_t> sites);

 private:
  struct Saved {
    std::int32_t site;
    float score;
  };
  void weigh(std::int32_t i);
  void weigh_touched();
  void save_around(std::int32_t i);

  const Domain& domain_;
  const LocalMoves& moves_;
  Workspace& work_;
  LocalRow row_;
  SwapTrees trees_;
  std::size_t degree_, most_touched_, cache_size_, saved_count_ = 0;
  bool few_ = false;  // otherwise all sites are saved and weighed
  Saved* saved_;
  std::int32_t *sorted_, *neighbours_;
  float *all_scores_, *saved_cache_;
};

}  // namespace saltus
