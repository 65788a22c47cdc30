// Gibbs sampling: two chains draw the same coordinate, each from its conditional distribution, the
// two coupled by value.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "couple/kernels.hpp"
#include "saltus/core/error.hpp"
#include "saltus/sampler/proposal.hpp"
#include "saltus/target/abilities.hpp"

namespace saltus {
namespace {

using Scan = GibbsOptions::Scan;

LocalRow local_row(const LocalMoves& local, const Tile& tile, int r) {
  return {tile.x[r], local.need_score() ? tile.score[r] : nullptr,
          local.need_target_cache() ? tile.target_cache[r] : nullptr};
}

class CoupledGibbs final : public CoupledKernel {
 public:
  CoupledGibbs(const Target& target, const Gibbs& sampler)
      : target_(target), scan_(sampler.options().scan), updates_(sampler.updates()) {}

  void step(Tile& tile, const CoupledStep& at, Workspace& work) const override;

 private:
  std::span<const std::int32_t> order(const CoupledStep& at, Workspace& work) const;
  // The conditional distribution of coordinate i in row r.
  void conditional(const Tile& tile, int r, int i, std::span<double> law, Workspace& work) const;
  void set(Tile& tile, int r, int i, int level) const;

  const Target& target_;
  Scan scan_;
  int updates_;
};

// The coordinates of a step, which both chains share: drawn with replacement, or all in an order.
std::span<const std::int32_t> CoupledGibbs::order(const CoupledStep& at, Workspace& work) const {
  const auto dim = static_cast<std::uint64_t>(target_.domain().dim());
  const std::span sites(
      work.sampler_scratch.get<std::int32_t>(0, static_cast<std::size_t>(updates_)),
      static_cast<std::size_t>(updates_));
  const Stream stream = at.stream(Purpose::scan);
  const auto below = [&](std::size_t k, std::uint64_t n) {
    return stream.sequence(static_cast<std::uint32_t>(k)) * n >> 32;
  };
  if (scan_ == Scan::random) {
    for (std::size_t k = 0; k < sites.size(); ++k)
      sites[k] = static_cast<std::int32_t>(below(k, dim));
    return sites;
  }
  std::iota(sites.begin(), sites.end(), 0);
  if (scan_ == Scan::systematic) return sites;
  for (std::size_t k = sites.size() - 1; k > 0; --k) std::swap(sites[k], sites[below(k, k + 1)]);
  return sites;
}

void CoupledGibbs::conditional(const Tile& tile, int r, int i, std::span<double> law,
                               Workspace& work) const {
  const auto levels = static_cast<int>(law.size());
  if (const LocalMoves* local = target_.local_moves()) {
    local->differences(local_row(*local, tile, r), i, 0, levels, law.data());
  } else {
    const int dim = tile.x.cols;
    const Rows<Symbol> x{
        work.sampler_scratch.get<Symbol>(2, static_cast<std::size_t>(levels * padded(dim))), levels,
        dim, padded(dim)};
    for (int k = 0; k < levels; ++k) {
      std::copy_n(tile.x[r], dim, x[k]);
      x[k][i] = static_cast<Symbol>(k);
    }
    target_.evaluate(work.at(0), x, law.data(), {});
  }
  const double top = *std::max_element(law.begin(), law.end());
  double sum = 0;
  for (double& w : law) sum += w = std::exp(w - top);
  for (double& w : law) w /= sum;
}

void CoupledGibbs::set(Tile& tile, int r, int i, int level) const {
  if (tile.x[r][i] == level) return;
  if (const LocalMoves* local = target_.local_moves()) {
    local->move(local_row(*local, tile, r), i, static_cast<Symbol>(level));
  } else {
    tile.x[r][i] = static_cast<Symbol>(level);
  }
}

void CoupledGibbs::step(Tile& tile, const CoupledStep& at, Workspace& work) const {
  const Domain& domain = target_.domain();
  const int rows = tile.rows();
  const auto most = static_cast<std::size_t>(domain.max_levels());
  double* room = work.sampler_scratch.get<double>(1, 2 * most);
  const Stream stream = at.stream(Purpose::couple);
  std::uint32_t first = 0;
  for (const std::int32_t i : order(at, work)) {
    const auto levels = static_cast<std::size_t>(domain.levels(i));
    const std::span<double> p(room, levels), q(room + most, levels);
    conditional(tile, 0, i, p, work);
    if (rows == 2) conditional(tile, 1, i, q, work);
    const CoupledDraw drawn = couple_draws(p, rows == 2 ? q : p, stream, first);
    first += 3;
    set(tile, 0, i, drawn.x);
    if (rows == 2) set(tile, 1, i, drawn.y);
  }
  // Anew, so that equal states have equal values.
  target_.evaluate_and_cache(work.at(0), tile.x, tile.logp, tile.score, tile.target_cache);
}

}  // namespace

std::unique_ptr<CoupledKernel> couple_gibbs(const Target& target, const Gibbs& sampler) {
  const GibbsOptions& options = sampler.options();
  if (options.block != 1 || options.scan == Scan::colours) {
    throw UsageError(
        "gibbs is coupled for single coordinates in the scans permutation, systematic and random");
  }
  if (options.scan != Scan::random && options.updates != 0) {
    throw UsageError(
        "coupled chains need steps that are all alike: gibbs with updates=sweep, or scan=random");
  }
  return std::make_unique<CoupledGibbs>(target, sampler);
}

}  // namespace saltus
