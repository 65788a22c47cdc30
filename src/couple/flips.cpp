// Gibbs with gradients and the path auxiliary sampler: two chains draw their changes, a site and
// its new level, one after the other, so that they make the same change as often as they can. One
// random number accepts both. (Coupled by the site alone, two-level coordinates that differ would
// flip together and stay different.)
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "couple/kernels.hpp"
#include "saltus/core/error.hpp"
#include "saltus/sampler/proposal.hpp"
#include "sampler/informed/level_weights.hpp"
#include "sampler/product_matrix.hpp"

namespace saltus {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNoProposal = std::numeric_limits<double>::quiet_NaN();  // which is rejected

std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}

// How many sites a step draws: `most`, or a uniform number up to it; all distinct, or not.
struct SiteCount {
  int most;
  bool fixed, distinct;
};

// The log weights of all changes of one state, of a site level after level, and of each site.
struct Weights {
  std::span<double> changes, sites;
};

// What a chain draws in a step.
struct Path {
  Weights weights;        // of what can still be drawn
  double total = 0;       // log of their sum
  std::span<double> law;  // of the next change
  std::span<int> sites;   // in the order in which they were drawn
  const Symbol* from = nullptr;
  Symbol* to = nullptr;
  double log_q = 0;
};

class CoupledFlips final : public CoupledKernel {
 public:
  CoupledFlips(const Target& target, Balancing balancing, int window, SiteCount count)
      : target_(target), levels_(target.domain(), balancing, window), count_(count) {
    for (int i = 0; i < target.domain().dim(); ++i) {
      begin_.push_back(site_.size());
      site_.insert(site_.end(), at(target.domain().levels(i)), i);
    }
  }

  void step(Tile& tile, const CoupledStep& when, Workspace& work) const override;

 private:
  void weigh(const Symbol* x, const float* score, const Weights& out) const;
  void start(Tile& tile, std::size_t sites, Workspace& work, std::span<Path> paths) const;
  void weigh_next(Path& path) const;
  void take(Path& path, std::size_t k, int change) const;
  void draw(std::span<Path> paths, const Stream& stream) const;
  double log_back(const Path& path) const;

  const Target& target_;
  LevelWeights levels_;
  SiteCount count_;
  std::vector<std::size_t> begin_;  // of each site's changes
  std::vector<int> site_;           // of each change
};

void CoupledFlips::weigh(const Symbol* x, const float* score, const Weights& out) const {
  std::ranges::fill(out.changes, -kInfinity);
  for (int i = 0; i < target_.domain().dim(); ++i) {
    const LevelWeights::Range range = levels_.range(i, x[i]);
    double* levels = &out.changes[begin_[at(i)] + at(range.first)];
    levels_.estimate(x, score, i, range, levels);
    out.sites[at(i)] = levels_.weigh(range, x[i], levels);
  }
}

void CoupledFlips::start(Tile& tile, std::size_t sites, Workspace& work,
                         std::span<Path> paths) const {
  const std::size_t rows = paths.size(), changes = site_.size(), dim = begin_.size();
  auto* weights = work.sampler_scratch.get<double>(0, rows * changes);
  auto* sums = work.sampler_scratch.get<double>(1, rows * dim);
  auto* laws = work.sampler_scratch.get<double>(2, rows * changes);
  auto* lists = work.sampler_scratch.get<int>(3, rows * sites);
  for (std::size_t r = 0; r < rows; ++r) {
    Path& p = paths[r];
    p.weights = {{weights + r * changes, changes}, {sums + r * dim, dim}};
    p.law = {laws + r * changes, changes};
    p.sites = {lists + r * sites, sites};
    p.from = tile.x[static_cast<int>(r)];
    p.to = work.proposal.x[static_cast<int>(r)];
    std::copy_n(p.from, dim, p.to);
    weigh(p.from, tile.score[static_cast<int>(r)], p.weights);
  }
}

// The law of the next change; where nothing has a weight, the total is not finite.
void CoupledFlips::weigh_next(Path& path) const {
  path.total = log_sum_exp(path.weights.sites);
  for (std::size_t c = 0; c < path.law.size(); ++c)
    path.law[c] = std::exp(path.weights.changes[c] - path.total);
}

// The k-th draw of a path. A site that was drawn before keeps the level it has got.
void CoupledFlips::take(Path& path, std::size_t k, int change) const {
  const int i = path.sites[k] = site_[at(change)];
  if (!std::isfinite(path.total)) {
    path.log_q = kNoProposal;
    return;
  }
  const bool again = path.to[i] != path.from[i];
  path.log_q += (again ? path.weights.sites[at(i)] : path.weights.changes[at(change)]) - path.total;
  if (!again) path.to[i] = static_cast<Symbol>(at(change) - begin_[at(i)]);
  if (!count_.distinct) return;
  path.weights.sites[at(i)] = -kInfinity;
  std::fill_n(&path.weights.changes[begin_[at(i)]], target_.domain().levels(i), -kInfinity);
}

void CoupledFlips::draw(std::span<Path> paths, const Stream& stream) const {
  Path &x = paths.front(), &y = paths.back();
  for (std::size_t k = 0; k < x.sites.size(); ++k) {
    for (Path& p : paths) weigh_next(p);
    // A chain that has nothing to draw leaves the other its law.
    const auto& p = std::isfinite(x.total) ? x.law : y.law;
    const auto& q = std::isfinite(y.total) ? y.law : x.law;
    const CoupledDraw drawn = couple_draws(p, q, stream, 3 * static_cast<std::uint32_t>(k));
    take(x, k, drawn.x);
    if (paths.size() == 2) take(y, k, drawn.y);
  }
}

// log q of the way back, given the weights at the other end: the same sites in reversed order.
double CoupledFlips::log_back(const Path& path) const {
  double log_q = 0;
  for (std::size_t k = path.sites.size(); k-- > 0;) {
    const std::size_t i = at(path.sites[k]);
    double& change = path.weights.changes[begin_[i] + path.from[i]];
    // Only once: drawn again, a site keeps its level.
    log_q += std::exchange(change, path.weights.sites[i]) - log_sum_exp(path.weights.sites);
    if (count_.distinct) path.weights.sites[i] = -kInfinity;
  }
  return log_q;
}

void CoupledFlips::step(Tile& tile, const CoupledStep& when, Workspace& work) const {
  const int rows = tile.rows();
  const Tile& y = work.proposal;
  const double share = count_.fixed ? 0 : when.stream(Purpose::propose).uniform();
  const int sites = count_.fixed ? count_.most : 1 + static_cast<int>(share * count_.most);
  Path both[2];
  const std::span<Path> paths(both, at(rows));
  start(tile, at(sites), work, paths);
  draw(paths, when.stream(Purpose::couple));
  target_.evaluate(work.at(0), first_rows(y.x, rows), y.logp, first_rows(y.score, rows));
  const double u = when.stream(Purpose::accept).uniform();
  for (int r = 0; r < rows; ++r) {
    const Path& p = paths[at(r)];
    weigh(y.x[r], y.score[r], p.weights);
    StepInfo info;
    if (metropolis(y.logp[r] - tile.logp[r] + log_back(p) - p.log_q, u, info))
      keep_proposal(tile, y, r);
  }
}

}  // namespace

std::unique_ptr<CoupledKernel> couple_gwg(const Target& target, const Gwg& sampler) {
  const GwgOptions& o = sampler.options();
  return std::make_unique<CoupledFlips>(target, o.balancing, o.window,
                                        SiteCount{o.flips, true, false});
}

std::unique_ptr<CoupledKernel> couple_pas(const Target& target, const Pas& sampler) {
  const PasOptions& o = sampler.options();
  return std::make_unique<CoupledFlips>(target, o.balancing, o.window,
                                        SiteCount{sampler.most_sites(), o.fixed, true});
}

}  // namespace saltus
