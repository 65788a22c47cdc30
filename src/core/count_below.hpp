// The threshold below which random words of 31 bits lead to an outcome.
#pragma once

#include <cstdint>

namespace saltus {

// The number of 31-bit words that `below` is true for: all up to one, and none beyond.
template <class Below>
std::uint32_t count_below(const Below& below) {
  std::uint32_t first = 0, last = 0x80000000u;
  while (first < last) {
    const std::uint32_t middle = first + (last - first) / 2;
    if (below(middle)) {
      first = middle + 1;
    } else {
      last = middle;
    }
  }
  return first;
}

}  // namespace saltus
