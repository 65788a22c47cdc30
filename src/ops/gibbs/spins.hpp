// Heat-bath sweeps of spins with small whole couplings, 64 chains side by side: a byte for each.
//
// The field of a spin is a whole number f of units, and the unlikelier level has the probability
// sigma(-unit_odds |f|): one of a few numbers for a whole sweep, kept as whole parts of 2^40. Most
// spins have |f| <= 127, which is a byte again; the few with more neighbours take a slower way. A
// random byte decides unless it equals the number's upper 8 bits, which happens once in 256 cases;
// then 32 more bits do. All of it is exact arithmetic, so that every instruction set decides alike.
#pragma once

#include <stdint.h>

#include "saltus/core/philox.hpp"

namespace saltus::ops {

constexpr int kSpinChains = 64, kMostInByte = 127, kMostField = 32767;

// Chain c of 64 has byte spin_lane(c) of each site's 64. So the four bytes of a random word of one
// chain meet those of three others in a lane of 32 bits.
constexpr int spin_lane(int c) {
  return 4 * (c % 16) + c / 16;
}

// Neighbours that count +1, then those that count -1, as often as the coupling has units.
struct SpinGraph {
  int n;
  const int64_t* begin;    // n + 1
  const int64_t* minus;    // n: where those that count -1 begin
  const uint32_t* offset;  // of the neighbour's 64 bytes: 64 times its number
  const int8_t* field;

  // The largest |f| that the spin can have.
  int64_t most(int32_t i) const {
    return begin[i + 1] - begin[i] + (field[i] < 0 ? -field[i] : field[i]);
  }
};

// By |f|, 128 of them at least: the probability of the unlikelier level in parts of 2^40, 2^39 at
// most.
struct SpinOdds {
  const uint64_t* unlikely;
};

// The words of chain c in step t: byte k % 16 of block k / 16 (its words from the lowest byte on)
// for update k; where that does not decide, word k % 4 of block 2^31 + k / 4.
constexpr uint32_t kRefineBlocks = 0x80000000u;

}  // namespace saltus::ops
