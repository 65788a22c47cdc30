// Saving and restoring an ensemble.
#include <algorithm>

#include "run/ensemble_parts.hpp"
#include "saltus/core/error.hpp"

namespace saltus {
namespace {

// An entry for each row of a tile, or none.
template <class T>
void get_kept(ByteReader& in, int rows, std::vector<T>& out) {
  const std::size_t length = in.next_array_length(sizeof(T));
  if (length != 0 && length != index(rows)) throw DataError("an array has the wrong length");
  out.resize(length);
  in.get_array(std::span(out));
}

}  // namespace

// States alone, unless values that go with them could not be computed from them again.
void Ensemble::save(ByteWriter& out) const {
  out.put(step_);
  const auto dim = index(groups_.front()->target().domain().dim());
  for (const auto& group : groups_) {
    out.begin_units();
    for (int chain = 0; chain < group->law.chains; ++chain) {
      out.put_array(std::span(state(group->first_slot + chain), dim));
      out.end_unit();
    }
    out.end_units();
  }
  for (const auto& group : groups_) out.put(group->law.beta);
  for (const auto& group : groups_) {
    out.put(static_cast<std::uint8_t>(group->accumulates_rounding));
    if (!group->accumulates_rounding) continue;
    out.put_array(std::span<const char>(group->cache_owner));
    out.begin_units();
    for (std::size_t t = group->first_tile; t < group->first_tile + group->tiles; ++t) {
      const Tile& tile = tiles_[t]->tile;
      out.put(static_cast<std::uint8_t>(tile.logp_current | tile.score_current << 1 |
                                        tile.target_cache_current << 2 |
                                        static_cast<bool>(tile.sampler_cache) << 3));
      for (const Rows<float>& rows : {tile.sampler_cache, tile.score, tile.target_cache}) {
        for (int r = 0; rows && r < tile.rows(); ++r) {
          out.put_array(std::span<const float>(rows.row(r)));
        }
      }
      out.put_array(std::span<const double>(tile.logp, index(tile.rows())));
      out.put_array(std::span<const double>(tiles_[t]->v));
      out.put_array(std::span<const std::uint8_t>(tiles_[t]->moved));
      out.end_unit();
    }
    out.end_units();
  }
}

void Ensemble::restore(ByteReader& in) {
  step_ = in.get<std::uint64_t>();
  const int dim = groups_.front()->target().domain().dim();
  RowBuffer<Symbol> states(chains_, dim);
  for (const auto& group : groups_) {
    ByteReader chains = in.units(index(group->law.chains));
    for (int slot = group->first_slot; slot < group->first_slot + group->law.chains; ++slot) {
      chains.get_array(std::span(states.view()[slot], index(dim)));
    }
  }
  set_states(states.view());
  for (const auto& group : groups_) group->law.beta = in.get<double>();
  for (const auto& storage : tiles_) {
    if (storage->tempered) storage->tempered->set_beta(beta(storage->group));
  }
  evaluate();
  for (const auto& group : groups_) {
    group->cache_owner.clear();
    group->accumulates_rounding = in.get<std::uint8_t>() != 0;
    if (!group->accumulates_rounding) continue;
    const std::size_t length = in.next_array_length(sizeof(char));
    if (length > 64) throw DataError("a sampler's key is too long");
    group->cache_owner.assign(length, ' ');
    in.get_array(std::span<char>(group->cache_owner));
    ByteReader tiles = in.units(group->tiles, index(group->tile_size));
    const auto first = tiles_.begin() + static_cast<std::ptrdiff_t>(group->first_tile);
    for (auto t = first; t != first + static_cast<std::ptrdiff_t>(group->tiles); ++t) {
      Tile& tile = (*t)->tile;
      const auto flags = tiles.get<std::uint8_t>();
      tile.logp_current = flags & 1, tile.score_current = flags & 2,
      tile.target_cache_current = flags & 4;
      if (flags & 8)
        (*t)->make_sampler_cache(static_cast<int>(tiles.next_array_length(sizeof(float))));
      for (const Rows<float>& rows : {tile.sampler_cache, tile.score, tile.target_cache}) {
        for (int r = 0; rows && r < tile.rows(); ++r) tiles.get_array(rows.row(r));
      }
      tiles.get_array(std::span(tile.logp, index(tile.rows())));
      get_kept(tiles, tile.rows(), (*t)->v);
      get_kept(tiles, tile.rows(), (*t)->moved);
    }
  }
}

}  // namespace saltus
