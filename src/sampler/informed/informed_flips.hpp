// One step of locally informed samplers: draw sites by weight, change them, weigh the sites of the
// new state, and test. There are three ways to the weights of the new state:
//
//   local     the target changes single coordinates in place at little cost; only the weights of
//             the changed coordinates' neighbours change
//   tile      all rows' proposals are evaluated in one call, and all weights follow from the score
//   expanded  exact differences of log p where the target knows no cheaper way: every variant of
//             every row is evaluated
#pragma once

#include <limits>

#include "saltus/sampler/sampler.hpp"
#include "sampler/informed/flip_proposal.hpp"

namespace saltus {

// What `metropolis` turns into a counted rejection.
inline constexpr double kNoProposal = std::numeric_limits<double>::quiet_NaN();

class InformedFlips {
 public:
  enum class Weights {
    estimated,  // from the score
    exact,      // from differences of log p; for choices of a single site
  };
  InformedFlips(const Target& target, Balancing balancing, int window, Weights weights,
                const SiteChoice& choice);

  Sampler::Needs needs() const;
  bool accumulates_rounding() const {
    return way_ == Way::local || (way_ == Way::tile && target_.cheap_near());
  }
  int cache_size() const { return SiteWeights::size(domain_.dim()); }
  void start(Tile& tile, Workspace& work) const;
  void step(Tile& tile, Workspace& work, std::span<StepInfo> info) const;

 private:
  enum class Way { local, tile, expanded };
  class LocalStep;     // of one row
  class ExpandedRows;  // log p of all variants of some rows
  Way choose_way() const;
  bool moving_pays() const;
  bool keeps_score() const { return weights_ == Weights::estimated || moves_->need_score(); }

  double* level_room(Workspace& work) const;
  std::span<FlipProposal> proposals(int rows, Workspace& work) const;
  SiteWeights weights_of(const Tile& tile, int r) const {
    return {domain_.dim(), tile.sampler_cache[r]};
  }
  SiteWeights other_weights(Workspace& work) const;
  // Draws the sites of row r. False: there is nothing to choose.
  bool draw_sites(const Tile& tile, int r, Workspace& work, FlipProposal& proposal) const;

  void weigh_estimated(const Symbol* x, const float* score, SiteWeights weights,
                       Workspace& work) const;
  void weigh_local(Tile& tile, Workspace& work) const;
  void weigh_expanded(Tile& tile, Workspace& work) const;
  void step_local(Tile& tile, Workspace& work, std::span<StepInfo> info) const;
  void step_tile(Tile& tile, Workspace& work, std::span<StepInfo> info) const;
  void propose_expanded(const Tile& tile, Workspace& work, std::span<FlipProposal> all,
                        Rows<Symbol> y) const;
  void step_expanded(Tile& tile, Workspace& work, std::span<StepInfo> info) const;

  const Target& target_;
  const Domain& domain_;
  const LocalMoves* moves_;
  LevelWeights levels_;
  Weights weights_;
  const SiteChoice& choice_;
  Way way_;
};

}  // namespace saltus
