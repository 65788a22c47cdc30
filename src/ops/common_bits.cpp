// Counts the bits that two sequences have in common. Compiled once per instruction set (the
// compiler splits the vectors as needed) and as the scalar version: counts are exact in any order.
#include <string.h>

#include "ops/passes.hpp"

namespace saltus::ops::SALTUS_LEVEL_NAMESPACE {
namespace {

constexpr std::size_t kLanes = 8;
constexpr int kFit = 31;  // words whose numbers of bits by byte, 8 at most, fit in bytes
typedef uint64_t Words __attribute__((vector_size(8 * kLanes)));

inline Words words_at(const uint64_t* x) {
  Words words;
  memcpy(&words, x, sizeof words);
  return words;
}

// The number of bits of each byte.
inline Words bits_by_byte(Words v) {
  v -= v >> 1 & 0x5555555555555555;
  v = (v & 0x3333333333333333) + (v >> 2 & 0x3333333333333333);
  return (v + (v >> 4)) & 0x0F0F0F0F0F0F0F0F;
}

inline uint64_t sum_of_bytes(Words v) {
  v = (v & 0x00FF00FF00FF00FF) + (v >> 8 & 0x00FF00FF00FF00FF);
  uint64_t sum = 0;
  for (std::size_t j = 0; j < kLanes; ++j) sum += v[j] * 0x0001000100010001 >> 48;
  return sum;
}

// Up to 8 words, the others taken as 0.
inline Words some_words(const uint64_t* x, std::size_t count) {
  Words words{};
  memcpy(&words, x, count * sizeof *x);
  return words;
}

}  // namespace

uint64_t common_bits(const uint64_t* x, const uint64_t* y, std::size_t count, unsigned shift) {
  // Two steps to the left, because one by 64 is undefined.
  const auto common = [shift](Words here, Words low, Words high) {
    return bits_by_byte(here & (low >> shift | high << 1 << (63 - shift)));
  };
  uint64_t total = 0;
  std::size_t i = 0;
  while (i + kLanes <= count) {
    Words sums{};
    for (int words = 0; words < kFit && i + kLanes <= count; ++words, i += kLanes) {
      sums += common(words_at(x + i), words_at(y + i), words_at(y + i + 1));
    }
    total += sum_of_bytes(sums);
  }
  const std::size_t left = count - i;
  if (left == 0) return total;
  return total + sum_of_bytes(common(some_words(x + i, left), some_words(y + i, left),
                                     some_words(y + i + 1, left)));
}

}  // namespace saltus::ops::SALTUS_LEVEL_NAMESPACE
