// The step with exact differences of log p on a target that only evaluates states: all variants of
// a state in one coordinate are evaluated.
#include "saltus/sampler/metropolis.hpp"
#include "sampler/informed/expand.hpp"
#include "sampler/informed/informed_flips.hpp"

namespace saltus {
namespace {

// Sets y_i to the m-th level that coordinate i may change to, if it has that many.
void change(const LevelWeights& levels, int i, int m, const Symbol* x, Symbol* y) {
  const LevelWeights::Range range = levels.range(i, x[i]);
  if (m >= range.count - 1) return;
  const int level = range.first + m;
  y[i] = static_cast<Symbol>(level >= x[i] ? level + 1 : level);
}

// Differences of log p from that of all levels but the one the coordinate is at.
void differences_of(LevelWeights::Range range, int now, const double* others, double logp,
                    double* out) {
  for (int m = 0; m < range.count; ++m) out[m] = range.first + m == now ? 0 : *others++ - logp;
}

}  // namespace

class InformedFlips::ExpandedRows {
 public:
  ExpandedRows(const InformedFlips& flips, std::uint64_t step, Rows<const Symbol> x,
               Workspace& work)
      : levels_(flips.levels_),
        x_(x),
        others_(levels_.most_levels() - 1),
        variants_(flips.domain_.dim() * others_ + 1) {
    logp_ = work.sampler_scratch.get<double>(
        6, static_cast<std::size_t>(x.rows) * static_cast<std::size_t>(variants_));
    // The last variant is the state itself; so is a place for which the coordinate has no level.
    expand(flips.target_, work, step, x, variants_, logp_, [&](int r, int v, Symbol* y) {
      if (v < variants_ - 1) change(levels_, v / others_, v % others_, x_[r], y);
    });
  }

  double logp(int r) const { return logp_[(r + 1) * variants_ - 1]; }

  auto differences(int r) const {
    return [this, r](int i, LevelWeights::Range range, double* out) {
      differences_of(range, x_[r][i], logp_ + r * variants_ + i * others_, logp(r), out);
    };
  }

  // Weighs all sites of row r.
  void weigh(int r, SiteWeights weights, double* room) const {
    for (int i = 0; i < weights.sites(); ++i) {
      const LevelWeights::Range range = levels_.range(i, x_[r][i]);
      differences(r)(i, range, room);
      weights.log_weights()[static_cast<std::size_t>(i)] =
          static_cast<float>(levels_.weigh(range, x_[r][i], room));
    }
    weights.rebuild();
  }

 private:
  const LevelWeights& levels_;
  Rows<const Symbol> x_;
  int others_, variants_;
  double* logp_;
};

void InformedFlips::weigh_expanded(Tile& tile, Workspace& work) const {
  const ExpandedRows rows(*this, tile.step, tile.x, work);
  for (int r = 0; r < tile.rows(); ++r) rows.weigh(r, weights_of(tile, r), level_room(work));
}

// Draws a site and a level for every row, and writes the changed states to y.
void InformedFlips::propose_expanded(const Tile& tile, Workspace& work, std::span<FlipProposal> all,
                                     Rows<Symbol> y) const {
  const int others = levels_.most_levels() - 1;
  for (int r = 0; r < y.rows; ++r) draw_sites(tile, r, work, all[static_cast<std::size_t>(r)]);
  // Which level the chosen site changes to is a question only with more than two.
  double* logp = work.sampler_scratch.get<double>(
      5, static_cast<std::size_t>(y.rows) * static_cast<std::size_t>(others));
  if (others > 1) {
    expand(target_, work, tile.step, tile.x, others, logp, [&](int r, int m, Symbol* variant) {
      const FlipProposal& p = all[static_cast<std::size_t>(r)];
      if (!p.sites.empty()) change(levels_, p.sites[0].site, m, tile.x[r], variant);
    });
  }
  for (int r = 0; r < y.rows; ++r) {
    FlipProposal& p = all[static_cast<std::size_t>(r)];
    const auto differences = [&](int i, LevelWeights::Range range, double* out) {
      differences_of(range, tile.x[r][i], logp + r * others, tile.logp[r], out);
    };
    change_sites(levels_, tile.x[r], work.stream(tile, r, Purpose::level), level_room(work), p,
                 differences);
    std::copy_n(tile.x[r], tile.x.cols, y[r]);
    for (const SiteChange& c : p.changes) y[r][c.site] = c.to;
  }
}

void InformedFlips::step_expanded(Tile& tile, Workspace& work, std::span<StepInfo> info) const {
  const int rows = tile.rows();
  const std::span<FlipProposal> all = proposals(rows, work);
  const Rows<Symbol> y{work.proposal.x.data, rows, work.proposal.x.cols, work.proposal.x.stride};
  propose_expanded(tile, work, all, y);
  const ExpandedRows expanded(*this, tile.step + 1, y, work);
  SiteWeights weights = other_weights(work);
  double* room = level_room(work);
  for (int r = 0; r < rows; ++r) {
    const FlipProposal& p = all[static_cast<std::size_t>(r)];
    StepInfo& done = info[static_cast<std::size_t>(r)];
    done.proposed = static_cast<std::uint32_t>(p.changes.size());
    expanded.weigh(r, weights, room);
    const double log_ratio =
        expanded.logp(r) - tile.logp[r] - p.log_forward +
        log_backward(choice_, levels_, weights, p, room, expanded.differences(r));
    const double u = work.stream(tile, r, Purpose::accept).uniform();
    if (!metropolis(log_ratio, u, done)) continue;
    for (const SiteChange& c : p.changes) tile.x[r][c.site] = c.to;
    std::copy_n(weights.log_weights().data(), cache_size(), tile.sampler_cache[r]);
    tile.logp[r] = expanded.logp(r);
  }
  tile.score_current = false;
  tile.target_cache_current = !tile.target_cache;
}

}  // namespace saltus
