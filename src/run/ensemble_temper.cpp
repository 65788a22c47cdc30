// Scans of parallel tempering. States move between the slots, betas stay.
#include <algorithm>
#include <cmath>
#include <utility>

#include "run/ensemble_parts.hpp"
#include "saltus/core/error.hpp"
#include "saltus/core/stopwatch.hpp"
#include "saltus/temper/ladder.hpp"

namespace saltus {
namespace {

constexpr double kSharedScan = 2e-4;  // seconds; waking threads takes a part of that

// One row of a tile as a tile of its own.
Tile row_of(const Tile& tile, int r) {
  const auto one = [r](auto rows) {
    if (rows) rows.data = rows[r];
    rows.rows = 1;
    return rows;
  };
  Tile row = tile;
  row.x = one(tile.x), row.score = one(tile.score);
  row.target_cache = one(tile.target_cache), row.sampler_cache = one(tile.sampler_cache);
  row.logp = tile.logp + r;
  row.first_chain += static_cast<std::uint32_t>(r);
  row.first_slot += static_cast<std::uint32_t>(r);
  return row;
}

// What goes with row r, whose state and V have come from another slot. Its score follows from the
// model's own, which has come along.
void settle(Tile& tile, const Tempered& law, double ratio, int r) {
  const double log_base = law.base().log_probability(tile.x[r]);
  tile.logp[r] = law.beta() == 0 ? log_base : log_base + law.beta() * ratio;
  if (!tile.score_current) return;
  const Tile row = row_of(tile, r);
  law.mix_score(row.x, row.target_cache, row.score);
}

}  // namespace

Ensemble::Storage& Ensemble::tile_of(int group, int column) const {
  return *tiles_[groups_[index(group)]->first_tile + index(column)];
}

// Fresh draws of the base, with V, and with what the sampler of the slot above will need.
void Ensemble::refresh(Storage& storage, Workspace& work, const Sampler& above,
                       std::uint64_t scan) const {
  Tile& tile = storage.tile;
  Tempered& law = *storage.tempered;
  for (int r = 0; r < tile.rows(); ++r) {
    const Stream stream(seed_, tile.first_chain + static_cast<std::uint32_t>(r), scan,
                        Purpose::refresh);
    law.base().draw(stream, tile.x[r]);
  }
  const Sampler::Needs needs = above.needs(law);
  tile.target_cache_current = needs.score || needs.target_cache;
  tile.score_current = false;
  law.set_beta(1);
  if (tile.target_cache_current) {
    law.evaluate_and_cache(work.at(scan), tile.x, tile.logp, tile.score, tile.target_cache);
    work.evaluations.gradient += static_cast<std::uint64_t>(tile.rows());
  } else {
    law.evaluate(work.at(scan), tile.x, tile.logp, {});
  }
  work.evaluations.logp += static_cast<std::uint64_t>(tile.rows());
  law.set_beta(0);
  for (int r = 0; r < tile.rows(); ++r) {
    if (std::isnan(tile.logp[r]) || tile.logp[r] == INFINITY) {
      throw DataError("log p of a draw of the base is not a number or infinite");
    }
    const double log_base = law.base().log_probability(tile.x[r]);
    storage.v[index(r)] = tile.logp[r] - log_base;
    tile.logp[r] = log_base;
  }
  tile.logp_current = true;
}

void Ensemble::explore(Storage& storage, ThreadWorkspace& thread,
                       std::span<const Sampler* const> samplers, std::uint64_t scan, int steps,
                       ScanObserver& observer) const {
  const std::size_t g = index(storage.group);
  storage.v_before = storage.v;
  if (g + 1 == groups_.size()) {
    // At odd scans the base does not take part in a swap.
    if (scan % 2 == 0) refresh(storage, thread.work, *samplers[g - 1], scan);
    return;
  }
  Tile& tile = storage.tile;
  const Sampler& sampler = *samplers[g];
  const std::span info(thread.info.data(), index(tile.rows()));
  make_ready(sampler, storage.target(), tile, thread.work);
  for (int r = 0; tile.sampler_cache && r < tile.rows(); ++r) {
    if (!storage.moved[index(r)]) continue;
    Tile row = row_of(tile, r);
    sampler.start(storage.target(), row, thread.work);
  }
  std::fill(storage.moved.begin(), storage.moved.end(), 0);
  for (int s = 0; s < steps; ++s) {
    thread.work.want_logp = s + 1 == steps;
    sampler.step(storage.target(), tile, thread.work, info);
    observer.after_step(static_cast<int>(groups_.size() - 1 - g), tile, info);
  }
  if (g == 0) observer.explored(tile, info, scan);
  log_ratios(storage, thread.work, storage.v);
}

void Ensemble::exchange(int column, std::uint64_t scan, ScanObserver& observer) const {
  const int slots = groups();
  std::vector<double> before(index(slots)), after(index(slots));
  std::vector<std::uint8_t> swapped(index(slots - 1));
  const auto slot = [&](int k) -> Storage& { return tile_of(slots - 1 - k, column); };
  for (int r = 0; r < slot(0).tile.rows(); ++r) {
    for (int k = 0; k < slots; ++k) {
      const bool known = k > 0 || scan % 2 == 0;
      before[index(k)] = k > 0 ? slot(k).v_before[index(r)] : NAN;
      after[index(k)] = known ? slot(k).v[index(r)] : NAN;
    }
    std::fill(swapped.begin(), swapped.end(), 0);
    for (int k = static_cast<int>(scan % 2); k + 1 < slots; k += 2) {
      const double a = swap_probability(slot(k).tempered->beta(), slot(k + 1).tempered->beta(),
                                        after[index(k)], after[index(k + 1)]);
      const Stream stream(seed_, slot(k).tile.first_chain + static_cast<std::uint32_t>(r), scan,
                          Purpose::swap);
      swapped[index(k)] = stream.uniform() < a;
    }
    const auto ensemble = static_cast<int>(slot(slots - 1).tile.first_slot) + r;
    observer.exchanged(ensemble, scan, {before, after, swapped});
    for (int k = 0; k + 1 < slots; ++k) {
      if (swapped[index(k)]) swap_rows(slot(k), slot(k + 1), r);
    }
  }
}

void Ensemble::swap_rows(Storage& a, Storage& b, int r) {
  std::ranges::swap_ranges(a.tile.x.row(r), b.tile.x.row(r));
  std::swap(a.v[index(r)], b.v[index(r)]);
  const bool cached = a.tile.target_cache_current && b.tile.target_cache_current;
  if (cached) std::ranges::swap_ranges(a.tile.target_cache.row(r), b.tile.target_cache.row(r));
  for (Storage* s : {&a, &b}) {
    s->tile.target_cache_current = cached;
    s->tile.score_current = s->tile.score_current && cached;
    settle(s->tile, *s->tempered, s->v[index(r)], r);
    s->moved[index(r)] = 1;
  }
}

void Ensemble::temper(std::span<const Sampler* const> samplers, const Scans& scans,
                      ScanObserver& observer) {
  for (int g = 0; g < groups(); ++g) {
    Group& group = *groups_[index(g)];
    leave_device(group);
    const bool base = g + 1 == groups();
    const bool start = !base && group.cache_owner != samplers[index(g)]->cache_key();
    if (start) start_cache(group, *samplers[index(g)]);
    for (std::size_t t = group.first_tile; t < group.first_tile + group.tiles; ++t) {
      const std::size_t rows = index(tiles_[t]->tile.rows());
      tiles_[t]->v.resize(rows, NAN);
      tiles_[t]->moved.resize(rows, 1);
      if (start) tiles_[t]->moved.assign(rows, 1);
    }
    if (!base) group.cache_owner = samplers[index(g)]->cache_key();
    group.accumulates_rounding = true;
  }
  const ops::OneBlasThread one_thread;
  const auto scan_tile = [&](int t, int thread, std::uint64_t scan) {
    Storage& storage = *tiles_[index(t)];
    explore(storage, *groups_[index(storage.group)]->threads[index(thread)], samplers, scan,
            scans.steps, observer);
  };
  const int columns = static_cast<int>(groups_.front()->tiles), slots = groups();
  const std::uint64_t end = scans.first + scans.count;
  if (columns >= pool_.threads()) {  // a thread takes ensembles through all scans
    pool_.for_each(columns, [&](int column, int thread) {
      for (std::uint64_t scan = scans.first; scan < end; ++scan) {
        for (int g = 0; g < slots; ++g) scan_tile(g * columns + column, thread, scan);
        exchange(column, scan, observer);
      }
    });
  } else {  // threads take slots and wait for each other, where a scan is worth waiting for
    double seconds = 0;  // of a scan by one thread
    for (std::uint64_t scan = scans.first; scan < end; ++scan) {
      const Stopwatch watch;
      if (seconds > kSharedScan) {
        pool_.for_each(slots * columns, [&](int t, int thread) { scan_tile(t, thread, scan); });
      } else {
        for (int t = 0; t < slots * columns; ++t) scan_tile(t, 0, scan);
        seconds = watch.seconds();
      }
      for (int column = 0; column < columns; ++column) exchange(column, scan, observer);
    }
  }
  step_ += scans.count * static_cast<std::uint64_t>(scans.steps);
}

}  // namespace saltus
