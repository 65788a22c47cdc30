// What the tokenisation needs to know about code points, made by scripts/unicode_tables.py.
#pragma once

#include <cstdint>
#include <span>

namespace saltus {

struct LowerRun {
  char32_t first, last;  // capitals first, first + step, ..., last
  std::int32_t step, distance;
};
struct Decomposition {
  char32_t from, to[3];  // to: the rest is 0
};

// Increasing, each the first code point of a range times 256 plus its CharClass bits.
extern const std::span<const std::uint32_t> class_boundaries;
extern const std::span<const LowerRun> lower_runs;
extern const std::span<const Decomposition> decompositions;

}  // namespace saltus
