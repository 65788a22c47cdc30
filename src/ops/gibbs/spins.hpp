// Heat-bath sweeps of spins with small whole couplings, 64 chains side by side: a bit for each.
//
// The field of a spin is a whole number f of units, and the unlikelier level has the probability
// sigma(-unit_odds |f|): one of a few numbers for a whole sweep, kept as whole parts of 2^40. Most
// spins have |f| <= 127, which is a byte; the few with more neighbours take a slower way. A random
// byte decides unless it equals the number's upper 8 bits, which happens once in 256 cases; then 32
// more bits do. All of it is exact arithmetic, so that every instruction set decides alike.
#pragma once

#include <stdint.h>

#include "saltus/core/philox.hpp"

namespace saltus::ops {

constexpr int kSpinChains = 64, kMostInByte = 127, kMostField = 32767;
constexpr int kMostWords = 4;  // of a site: 64 chains each
constexpr int kSpinBlock = 4;  // neighbours are counted by this many

// Chain c of 64 has bit spin_lane(c) of a site's word, 1 for the spin +1. So the four bytes of a
// random word of one chain meet those of three others in a lane of 32 bits.
constexpr int spin_lane(int c) {
  return 4 * (c % 16) + c / 16;
}
constexpr int chain_of_lane(int lane) {
  return 16 * (lane % 4) + lane / 4;
}

// A spin's field is base + 2 (the number of `plus` neighbours that are +1 and of `minus` neighbours
// that are -1). A coupling of several units has as many entries; entries that fill up a block name
// a site whose spins are -1 and stay so.
struct SpinSite {
  uint32_t begin;        // the first block of entries: those of plus neighbours, then of minus ones
  uint16_t plus, minus;  // blocks
  int16_t base;
  int16_t most;  // the largest |f|
};

struct SpinGraph {
  const SpinSite* site;
  const uint32_t* neighbour;  // where its words begin: the words of a site times its number
  int words;                  // of a site: 1, 2 or 4

  const uint32_t* entries(const SpinSite& s) const {
    return neighbour + int64_t{kSpinBlock} * s.begin;
  }
};

// By |f|, up to the largest of all spins: the probability of the unlikelier level in parts of 2^40,
// 2^39 at most.
struct SpinOdds {
  const uint64_t* unlikely;
  int most;
};

// The random numbers of a chain in a sweep: update t takes byte t % 16 of block t / 16 (its words
// from the lowest byte on). Where that does not decide, and it is the k-th such update of its run
// of 1024 from 1024 (t / 1024) on, it takes refine_word(t, k): word w % 4 of block 2^31 + w / 4.
constexpr uint32_t kRefineBlocks = 0x80000000u;
constexpr uint32_t kRefineRun = 1024;
constexpr uint32_t refine_word(uint32_t t, uint32_t k) {
  return t - t % kRefineRun + k;
}

}  // namespace saltus::ops
