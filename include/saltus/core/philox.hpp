// Randomness as a pure function of (seed, chain, step, purpose, coordinate).
//
// Philox 4x32-10: Salmon, Moraes, Dror & Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC
// 2011. There is no generator to advance, store or share. From this follow the same draws for any
// number of threads, for chains split over processes, and after a stop and a resume.
#pragma once

#include <cstddef>
#include <cstdint>

#include "saltus/core/both.hpp"

namespace saltus {

struct PhiloxBlock {
  std::uint32_t words[4];

  constexpr SALTUS_BOTH std::uint32_t operator[](std::size_t k) const { return words[k]; }
  bool operator==(const PhiloxBlock&) const = default;
};

struct PhiloxKey {
  std::uint32_t low, high;
};

// Of a GPU's own instruction: its compiler adds zeros to the product of two wide numbers.
constexpr SALTUS_BOTH std::uint64_t wide_product(std::uint32_t a, std::uint32_t b) {
#ifdef __CUDA_ARCH__
  std::uint64_t product;
  asm("mul.wide.u32 %0, %1, %2;" : "=l"(product) : "r"(a), "r"(b));
  return product;
#else
  return std::uint64_t{a} * b;
#endif
}

constexpr SALTUS_BOTH PhiloxBlock philox_block(PhiloxBlock counter, PhiloxKey key) {
  SALTUS_UNROLL
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = wide_product(0xD2511F53u, counter[0]);
    const std::uint64_t p1 = wide_product(0xCD9E8D57u, counter[2]);
    counter = {{static_cast<std::uint32_t>(p1 >> 32) ^ counter[1] ^ key.low,
                static_cast<std::uint32_t>(p1),
                static_cast<std::uint32_t>(p0 >> 32) ^ counter[3] ^ key.high,
                static_cast<std::uint32_t>(p0)}};
    key.low += 0x9E3779B9u;
    key.high += 0xBB67AE85u;
  }
  return counter;
}

// What a random number is for. Two purposes of a run never share a counter.
enum class Purpose : std::uint32_t {
  start = 0,
  propose = 1,
  accept = 2,
  batch = 3,
  check = 4,
  scan = 5,       // the order in which coordinates are visited
  level = 6,      // the new level of a coordinate that was chosen to change
  part = 7,       // which part of a composed sampler makes a step, and the seeds of its parts
  swap = 8,       // whether two slots of a ladder of temperatures exchange their states
  refresh = 9,    // a draw of the base, at the foot of a ladder
  resample = 10,  // which members of a population are copied
  couple = 11,    // the moves of two chains that are to meet
  // Random problems, of kAllChains. A problem is made before there are chains, so that it may share
  // a number with `part`.
  generate = 7,
};

// The chain to name when a number is shared by all chains (a mini-batch, say).
inline constexpr std::uint32_t kAllChains = 0xFFFFFFFFu;

// All random numbers of one chain, one step and one purpose, indexed by coordinate.
struct Stream {
  std::uint32_t key0, key1;  // the seed
  std::uint32_t chain, step_low, step_high_and_purpose;

  SALTUS_BOTH Stream(std::uint64_t seed, std::uint32_t chain_, std::uint64_t step, Purpose purpose)
      : key0(static_cast<std::uint32_t>(seed)),
        key1(static_cast<std::uint32_t>(seed >> 32)),
        chain(chain_),
        step_low(static_cast<std::uint32_t>(step)),
        step_high_and_purpose(static_cast<std::uint32_t>(step >> 32) << 8 |
                              static_cast<std::uint32_t>(purpose)) {}

  SALTUS_BOTH PhiloxBlock block(std::uint32_t b) const {
    return philox_block({{b, chain, step_low, step_high_and_purpose}}, {key0, key1});
  }

  // 64 coordinates share 16 blocks: coordinate 64 g + 16 w + l is word w of block 16 g + l. Vector
  // code then computes 16 blocks side by side and finds its four words in coordinate order.
  SALTUS_BOTH std::uint32_t word(std::uint32_t coordinate) const {
    return block(coordinate / 64 * 16 + coordinate % 16)[coordinate / 16 % 4];
  }
  // The same, block by block: word w of block b belongs to coordinate first_coordinate(b) + 16 w.
  static constexpr SALTUS_BOTH int first_coordinate(int b) { return b / 16 * 64 + b % 16; }
  static constexpr SALTUS_BOTH int blocks_for(int coordinates) {
    return (coordinates + 63) / 64 * 16;
  }

  // Words in the order of use: four to a block.
  std::uint32_t sequence(std::uint32_t index) const { return block(index / 4)[index % 4]; }

  // Uniform on the open interval (0, 1), 53 bits; `index` counts blocks.
  SALTUS_BOTH double uniform(std::uint32_t index = 0) const {
    const PhiloxBlock b = block(index);
    const std::uint64_t bits = (std::uint64_t{b[0]} << 32 | b[1]) >> 11;
    const double u = (static_cast<double>(bits) + 0.5) * 0x1p-53;
    return u < 1 ? u : 1 - 0x1p-53;  // the largest of them would round to 1
  }
};

}  // namespace saltus
