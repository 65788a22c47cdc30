// What an Ensemble is made of, for the files that implement it.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ops/gemm.hpp"
#include "saltus/run/ensemble.hpp"

namespace saltus {

inline std::size_t index(int i) {
  return static_cast<std::size_t>(i);
}

// What a Tile points into. All tiles of a group have the same layout: a sampler may swap their
// memory with that of proposals.
struct Ensemble::Storage {
  RowBuffer<Symbol> x;
  RowBuffer<float> score, target_cache, sampler_cache;
  std::vector<double> logp;
  Tile tile;
  int group = 0;
  const Target* model;
  std::optional<Tempered> tempered;  // at this tile's beta, for a group with a base
  // Of tempering: V = log p - log p_0 of each row, before exploring and now, and rows whose state
  // came from another slot, so that what a sampler keeps beside it must be computed again.
  std::vector<double> v_before, v;
  std::vector<std::uint8_t> moved;

  Storage(const ChainGroup& g, int rows)
      : x(rows, g.target->domain().dim()),
        score(rows, g.target->domain().score_size()),
        logp(index(rows)),
        model(g.target) {
    if (g.base) tempered.emplace(*g.target, g.base).set_beta(g.beta);
    if (const int size = target().cache_size(); size > 0)
      target_cache = RowBuffer<float>(rows, size);
    tile.x = x.view(), tile.score = score.view(), tile.target_cache = target_cache.view();
    tile.logp = logp.data();
  }

  const Target& target() const { return tempered ? *tempered : *model; }

  void make_sampler_cache(int size) {
    sampler_cache = size > 0 ? RowBuffer<float>(x.view().rows, size) : RowBuffer<float>();
    tile.sampler_cache = sampler_cache.view();
    tile.sampler_cache.rows = tile.x.rows;
  }

  // The score follows from the model's own, log p from `ratios`, log p - log p_0 of the model.
  void change_beta(double beta, std::span<const double> ratios) {
    tempered->set_beta(beta);
    for (int r = 0; r < tile.rows(); ++r) {
      tile.logp[r] = tempered->base().log_probability(tile.x[r]) + beta * ratios[index(r)];
    }
    tile.logp_current = true;
    tile.score_current &= tile.target_cache_current;
    if (tile.score_current) tempered->mix_score(tile.x, tile.target_cache, tile.score);
  }
};

struct Ensemble::ThreadWorkspace {
  Storage proposal;
  Workspace work;
  std::vector<StepInfo> info;
  std::vector<double> ratios;

  ThreadWorkspace(const ChainGroup& group, int rows, std::uint64_t seed)
      : proposal(group, rows), info(index(rows)), ratios(index(rows)) {
    work.proposal = proposal.tile;
    work.seed = seed;
  }
};

struct Ensemble::Group {
  ChainGroup law;
  int first_slot, tile_size;
  std::size_t first_tile, tiles = 0;
  std::vector<std::unique_ptr<ThreadWorkspace>> threads;
  std::string cache_owner;            // the sampler that the tiles' own values belong to
  bool accumulates_rounding = false;  // values in tiles could not be computed from the states again
  std::unique_ptr<DeviceChains> device;
  // The newest states are here; they are on the device, with what goes with them. One always is.
  mutable bool states_here = true;
  bool device_ready = false;

  const Target& target() const { return *law.target; }
};

// work(tile, what the thread lends to it), for all tiles.
template <class Work>
void Ensemble::for_tiles(const Work& work) {
  const ops::OneBlasThread one_thread;
  pool_.for_each(static_cast<int>(tiles_.size()), [&](int t, int thread) {
    Storage& storage = *tiles_[index(t)];
    work(storage, *groups_[index(storage.group)]->threads[index(thread)]);
  });
}

}  // namespace saltus
