#include "saltus/run/reduction.hpp"

#include <algorithm>

#include "saltus/target/target.hpp"

namespace saltus {

std::vector<ChainRange> chain_ranges(const Target& target, int chains, int tile, int parts) {
  const int size = std::max(1, tile > 0 ? tile : target.preferred_tile());
  const int tiles = (chains + size - 1) / size;
  std::vector<ChainRange> ranges;
  for (int part = 0, first = 0; part < parts; ++part) {
    const auto end = static_cast<int>(std::int64_t{tiles} * (part + 1) / parts);
    const int last = std::min(chains, end * size);
    if (last == first) continue;
    ranges.push_back({static_cast<std::uint32_t>(first), last - first});
    first = last;
  }
  return ranges;
}

}  // namespace saltus
