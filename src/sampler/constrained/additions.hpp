// log p of the states that come from an allowed one by moving a one: exact, not estimated.
#pragma once

#include <cstdint>
#include <span>

#include "saltus/sampler/sampler.hpp"

namespace saltus {

class Additions {
 public:
  // Slots 0 to 2 of the work's sampler scratch are taken.
  Additions(const Target& target, Workspace& work, std::uint64_t step)
      : target_(target), moves_(target.local_moves()), work_(work), step_(step) {}

  static Sampler::Needs needs(const Target& target, bool logp);

  // A row of a tile, or a copy of it, as local moves take it.
  LocalRow row(const Tile& tile, int r) const;
  LocalRow copy(const Tile& tile, int r) const;

  // Sets coordinate i of the row to 0. Then out[k] is log p of the row with places[k] at 1, up to
  // the same constant for all.
  void compute(const LocalRow& row, int i, std::span<const std::int32_t> places, double* out) const;
  // Sets a coordinate to a level.
  void set(const LocalRow& row, int i, Symbol to) const;

 private:
  int dim() const { return target_.domain().dim(); }

  const Target& target_;
  const LocalMoves* moves_;
  Workspace& work_;
  std::uint64_t step_;
};

}  // namespace saltus
