#include "io/data/numpy_shuffle.hpp"

#include <numeric>
#include <random>
#include <utility>

namespace saltus {
namespace {

// A whole number from 0 to `last`: as many low bits of a word as `last` has, drawn again while they
// are above it.
std::uint32_t up_to(std::uint32_t last, std::mt19937& words) {
  std::uint32_t mask = last;
  for (const int shift : {1, 2, 4, 8, 16}) mask |= mask >> shift;
  while (true) {
    const auto value = static_cast<std::uint32_t>(words()) & mask;
    if (value <= last) return value;
  }
}

}  // namespace

std::vector<std::int32_t> numpy_permutation(std::uint32_t seed, int n) {
  std::mt19937 words(seed);  // RandomState seeds it by one number in the same way
  std::vector<std::int32_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = order.size(); i-- > 1;) {
    std::swap(order[i], order[up_to(static_cast<std::uint32_t>(i), words)]);
  }
  return order;
}

}  // namespace saltus
