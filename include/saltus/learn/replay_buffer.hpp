// States of many chains of which some go on in each iteration of learning, the replay buffer: Du &
// Mordatch, "Implicit generation and modeling with energy-based models", NeurIPS 2019. For domains
// of at most 256 levels.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "saltus/core/bytes.hpp"
#include "saltus/target/independent.hpp"

namespace saltus {

class ReplayBuffer {
 public:
  // All entries are draws of `start`. Throws UsageError when there are none, or levels that do not
  // fit.
  ReplayBuffer(int entries, const Independent& start, std::uint64_t seed);

  int entries() const { return entries_; }
  // Different entries in random order, a function of the seed and the iteration: the first of any
  // number are the same. There must be as many.
  std::vector<std::int32_t> choose(std::uint64_t iteration, int count) const;

  void get(std::span<const std::int32_t> which, Rows<Symbol> to) const;
  void put(std::span<const std::int32_t> which, Rows<const Symbol> from);

  void save(ByteWriter& out) const { out.put_array(std::span<const std::uint8_t>(levels_)); }
  void restore(ByteReader& in) { in.get_array(std::span(levels_)); }

 private:
  std::size_t begin(std::int32_t entry) const {
    return static_cast<std::size_t>(entry) * static_cast<std::size_t>(dim_);
  }

  int entries_, dim_;
  std::uint64_t seed_;
  std::vector<std::uint8_t> levels_;
};

}  // namespace saltus
