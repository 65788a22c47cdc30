// Bits of the flat arrays of lattices from and to levels, on the host.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

#include "saltus/core/rows.hpp"

namespace saltus::cuda {

inline void pack_bits(const Symbol* levels, int count, std::uint32_t* words) {
  for (int first = 0; first < count; first += 32) {
    std::uint32_t word = 0;
    const int end = first + 32 < count ? first + 32 : count;
    for (int i = first; i < end; ++i) word |= static_cast<std::uint32_t>(levels[i]) << (i - first);
    words[first / 32] = word;
  }
}

// Eight levels at a time.
inline void unpack_bits(const std::uint32_t* words, int count, Symbol* levels) {
  using Eight = std::array<Symbol, 8>;
  static const auto table = [] {
    std::array<Eight, 256> of_byte{};
    for (std::size_t byte = 0; byte < of_byte.size(); ++byte) {
      for (std::size_t k = 0; k < 8; ++k) of_byte[byte][k] = static_cast<Symbol>(byte >> k & 1);
    }
    return of_byte;
  }();
  int i = 0;
  for (; i + 8 <= count; i += 8) {
    std::memcpy(levels + i, table[words[i / 32] >> i % 32 & 0xFF].data(), sizeof(Eight));
  }
  for (; i < count; ++i) levels[i] = static_cast<Symbol>(words[i / 32] >> i % 32 & 1);
}

}  // namespace saltus::cuda
