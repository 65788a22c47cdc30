// One tile of chains, to be stepped by hand.
#pragma once

#include <vector>

#include "saltus/sampler/sampler.hpp"

namespace saltus {

struct OneTile {
  RowBuffer<Symbol> x, y;
  RowBuffer<float> score, own;
  std::vector<double> logp, y_logp;
  std::vector<StepInfo> info;
  Tile tile;
  Workspace work;

  // Chain r starts at level 1 of coordinate r (modulo dim) and level 0 of all others.
  OneTile(const Target& target, const Sampler& sampler, int rows, std::uint64_t seed = 1)
      : x(rows, target.domain().dim()),
        y(rows, target.domain().dim()),
        score(rows, target.domain().score_size()),
        own(rows, sampler.cache_size(target)),
        logp(static_cast<std::size_t>(rows)),
        y_logp(static_cast<std::size_t>(rows)),
        info(static_cast<std::size_t>(rows)) {
    for (int r = 0; r < rows; ++r) x.view()[r][r % target.domain().dim()] = 1;
    tile.x = x.view(), tile.sampler_cache = own.view(), tile.score = score.view(),
    tile.logp = logp.data();
    work.proposal.x = y.view(), work.proposal.logp = y_logp.data();
    work.seed = seed;
    target.evaluate(work.at(0), x.view(), logp.data(), {});
    sampler.start(target, tile, work);
  }

  // The first dim of the sampler's own values of chain r.
  std::vector<float> z(int r) const {
    return {tile.sampler_cache[r], tile.sampler_cache[r] + tile.x.cols};
  }
  std::vector<float> z() const {
    std::vector<float> all;
    for (int r = 0; r < tile.rows(); ++r) {
      all.insert(all.end(), tile.sampler_cache[r], tile.sampler_cache[r] + tile.x.cols);
    }
    return all;
  }
};

}  // namespace saltus
