#include "sampler/informed/informed_flips.hpp"

#include "saltus/sampler/proposal.hpp"

namespace saltus {

// Memory of a step, by slot of Workspace::own:
//   0 levels of one site   1 sites drawn   2 changes   3 proposals   4 weights of the other end
//   5, 6 what the way of the step needs    7 `expand`

InformedFlips::InformedFlips(const Target& target, Balancing balancing, int window, Weights weights,
                             const SiteChoice& choice)
    : target_(target),
      domain_(target.domain()),
      moves_(target.local_moves()),
      levels_(domain_, balancing, window),
      weights_(weights),
      choice_(choice),
      way_(choose_way()) {}

// Moving in place pays while a step touches few sites: bringing one up to date, with its block of
// weights, costs about as much as 32 sites of an evaluation. Where everything is coupled, a move
// goes through all sites, but simply. In a small model nothing of this matters.
bool InformedFlips::moving_pays() const {
  const double flips = choice_.most(), dim = domain_.dim();
  if (flips == 1) return true;
  if (dim <= 64) return flips <= dim / 2;
  const double touched = flips * (moves_->max_neighbours() + 1);
  return touched <= dim / 32 || flips <= dim / 128;
}

InformedFlips::Way InformedFlips::choose_way() const {
  if (weights_ == Weights::exact) return moves_ ? Way::local : Way::expanded;
  const bool possible = moves_ && moves_->moves_keep_score();
  return possible && moving_pays() ? Way::local : Way::tile;
}

Sampler::Needs InformedFlips::needs() const {
  const bool local = way_ == Way::local;
  const bool score = local ? keeps_score() : way_ == Way::tile;
  const bool kept = local ? moves_->need_target_cache() : way_ == Way::tile && target_.cheap_near();
  return {true, score, kept};
}

double* InformedFlips::level_room(Workspace& work) const {
  return work.sampler_scratch.get<double>(0, static_cast<std::size_t>(levels_.most_levels()));
}

std::span<FlipProposal> InformedFlips::proposals(int rows, Workspace& work) const {
  const auto n = static_cast<std::size_t>(rows), most = static_cast<std::size_t>(choice_.most());
  auto* sites = work.sampler_scratch.get<ChosenSite>(1, n * most);
  auto* changes = work.sampler_scratch.get<SiteChange>(2, n * most);
  auto* all = work.sampler_scratch.get<FlipProposal>(3, n);
  for (std::size_t r = 0; r < n; ++r)
    all[r] = {{sites + r * most, most}, {changes + r * most, most}};
  return {all, n};
}

SiteWeights InformedFlips::other_weights(Workspace& work) const {
  return {domain_.dim(),
          work.sampler_scratch.get<float>(4, static_cast<std::size_t>(cache_size()))};
}

bool InformedFlips::draw_sites(const Tile& tile, int r, Workspace& work,
                               FlipProposal& proposal) const {
  const Stream stream = work.stream(tile, r, Purpose::propose);
  proposal.sites = proposal.sites.first(static_cast<std::size_t>(choice_.count(stream)));
  SiteWeights weights = weights_of(tile, r);
  proposal.log_forward = choice_.draw(weights, stream, proposal.sites);
  if (std::isfinite(proposal.log_forward)) return true;
  proposal.sites = {};
  proposal.changes = {};
  proposal.log_forward = kNoProposal;
  return false;
}

void InformedFlips::weigh_estimated(const Symbol* x, const float* score, SiteWeights weights,
                                    Workspace& work) const {
  levels_.estimated_sites(x, score, weights.log_weights().data(), level_room(work));
  weights.rebuild();
}

void InformedFlips::start(Tile& tile, Workspace& work) const {
  if (way_ == Way::local) return weigh_local(tile, work);
  if (way_ == Way::expanded) return weigh_expanded(tile, work);
  for (int r = 0; r < tile.rows(); ++r) {
    weigh_estimated(tile.x[r], tile.score[r], weights_of(tile, r), work);
  }
}

void InformedFlips::step(Tile& tile, Workspace& work, std::span<StepInfo> info) const {
  if (way_ == Way::local) {
    step_local(tile, work, info);
  } else if (way_ == Way::tile) {
    step_tile(tile, work, info);
  } else {
    step_expanded(tile, work, info);
  }
  ++tile.step;
}

void InformedFlips::step_tile(Tile& tile, Workspace& work, std::span<StepInfo> info) const {
  const int rows = tile.rows();
  Tile& y = work.proposal;
  const std::span<FlipProposal> all = proposals(rows, work);
  double* room = level_room(work);
  const auto estimate = [&](const Symbol* x, const float* score) {
    return [&, x, score](int i, LevelWeights::Range range, double* out) {
      levels_.estimate(x, score, i, range, out);
    };
  };
  for (int r = 0; r < rows; ++r) {
    FlipProposal& p = all[static_cast<std::size_t>(r)];
    std::copy_n(tile.x[r], tile.x.cols, y.x[r]);
    if (!draw_sites(tile, r, work, p)) continue;
    change_sites(levels_, tile.x[r], work.stream(tile, r, Purpose::level), room, p,
                 estimate(tile.x[r], tile.score[r]));
    for (const SiteChange& c : p.changes) y.x[r][c.site] = c.to;
  }
  evaluate_proposals(target_, tile, work, true);
  SiteWeights weights = other_weights(work);
  for (int r = 0; r < rows; ++r) {
    const FlipProposal& p = all[static_cast<std::size_t>(r)];
    StepInfo& done = info[static_cast<std::size_t>(r)];
    done.proposed = static_cast<std::uint32_t>(p.changes.size());
    weigh_estimated(y.x[r], y.score[r], weights, work);
    const double log_ratio =
        y.logp[r] - tile.logp[r] - p.log_forward +
        log_backward(choice_, levels_, weights, p, room, estimate(y.x[r], y.score[r]));
    if (!test_proposal(log_ratio, tile, r, work, done)) continue;
    std::copy_n(weights.log_weights().data(), cache_size(), tile.sampler_cache[r]);
  }
}

}  // namespace saltus
