#include "sampler/informed/site_weights.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "saltus/core/rows.hpp"

namespace saltus {
namespace {

constexpr int kBlock = SiteWeights::kBlock;
// Sums run over this many lanes in a fixed order, whatever the width of the machine's registers.
constexpr std::size_t kLanes = 16;
constexpr float kNothing = -std::numeric_limits<float>::infinity();

// exp(z) for z <= 0, to two units in the last place, 0 below -87; without branches, so that
// compilers turn a loop of it into vector code. NaN stays NaN.
inline float exp_of_nonpositive(float z) {
  constexpr float kRound = 12582912.0f;  // 1.5 * 2^23: adding it leaves a rounded integer
  constexpr std::int32_t kLargest = std::bit_cast<std::int32_t>(87.0f);
  constexpr std::int32_t kInfinite = 0x7F800000;
  const float shifted = z * 1.44269504f + kRound;
  const float n = shifted - kRound;
  const float r = (z - n * 0.693359375f) + n * 2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.0f;
  const std::uint32_t exponent = std::bit_cast<std::uint32_t>(shifted) + 127u;
  const float result = p * std::bit_cast<float>(exponent << 23);
  const auto size = std::bit_cast<std::int32_t>(z) & 0x7FFFFFFF;
  const std::int32_t vanishes = -static_cast<std::int32_t>((size > kLargest) & (size <= kInfinite));
  return std::bit_cast<float>(std::bit_cast<std::int32_t>(result) & ~vanishes);
}

// The weights of `count` entries of a block relative to its top; `sum` is null on the lowest level.
inline void relative_weights(const float* top, const float* sum, float of, std::size_t count,
                             float* out) {
  if (sum) {
    for (std::size_t j = 0; j < count; ++j) out[j] = exp_of_nonpositive(top[j] - of) * sum[j];
  } else {
    for (std::size_t j = 0; j < count; ++j) out[j] = exp_of_nonpositive(top[j] - of);
  }
}

struct Drawn {
  int entry;
  double u;  // what is left of the uniform number: again uniform on (0, 1)
};

Drawn draw_entry(std::span<const float> weight, double u) {
  std::array<double, kBlock / kLanes> group{};
  const std::size_t groups = weight.size() / kLanes;
  double total = 0;
  for (std::size_t g = 0; g < groups; ++g) {
    for (std::size_t j = 0; j < kLanes; ++j) group[g] += double{weight[g * kLanes + j]};
    total += group[g];
  }
  double rest = u * total;
  std::size_t g = 0;
  while (g + 1 < groups && !(rest < group[g])) rest -= group[g++];
  while (g > 0 && !(group[g] > 0)) --g;  // rounding led past the end
  std::size_t last = 0;
  for (std::size_t j = g * kLanes; j < (g + 1) * kLanes; ++j) {
    const double w = double{weight[j]};
    if (!(w > 0)) continue;
    if (rest < w) return {static_cast<int>(j), rest / w};
    rest -= w;
    last = j;
  }
  return {static_cast<int>(last), 1.0};
}

}  // namespace

int SiteWeights::size(int n) {
  int total = padded(n);
  do {
    n = (n + kBlock - 1) / kBlock;
    total += 2 * padded(n);
  } while (n > 1);
  return total;
}

SiteWeights::SiteWeights(int n, float* memory) : n_(n) {
  level_[0] = {n, memory, nullptr};
  memory += padded(n);
  do {
    const int count = (level_[levels_ - 1].count + kBlock - 1) / kBlock;
    level_[levels_++] = {count, memory, memory + padded(count)};
    memory += 2 * padded(count);
  } while (level_[levels_ - 1].count > 1);
}

SiteWeights::Block SiteWeights::block(int level, int b) const {
  const Level& below = level_[level - 1];
  const std::ptrdiff_t begin = static_cast<std::ptrdiff_t>(b) * kBlock;
  const auto left = static_cast<std::size_t>(std::min(kBlock, below.count - b * kBlock));
  return {below.top + begin, below.sum ? below.sum + begin : nullptr,
          (left + kLanes - 1) / kLanes * kLanes};
}

void SiteWeights::sum_block(int level, int b) {
  const Block of = block(level, b);
  std::array<float, kLanes> lane;
  lane.fill(kNothing);
  for (std::size_t j = 0; j < of.count; j += kLanes) {
    for (std::size_t l = 0; l < kLanes; ++l) {
      lane[l] = of.top[j + l] > lane[l] ? of.top[j + l] : lane[l];
    }
  }
  float top = kNothing;
  for (float t : lane) top = std::max(top, t);
  std::array<float, kBlock> weight;
  // Nothing in the block has a weight, or NaN is all there is: any finite top will show which.
  relative_weights(of.top, of.sum, top == kNothing ? 0.0f : top, of.count, weight.data());
  lane.fill(0);
  for (std::size_t j = 0; j < of.count; j += kLanes) {
    for (std::size_t l = 0; l < kLanes; ++l) lane[l] += weight[j + l];
  }
  float sum = 0;
  for (float s : lane) sum += s;
  level_[level].top[b] = top == kNothing && sum != 0 ? 0.0f : top;
  level_[level].sum[b] = sum;
}

void SiteWeights::rebuild() {
  std::fill(level_[0].top + n_, level_[0].top + padded(n_), kNothing);
  for (int level = 1; level < levels_; ++level) {
    const Level& l = level_[level];
    for (int b = 0; b < l.count; ++b) sum_block(level, b);
    std::fill(l.top + l.count, l.top + padded(l.count), kNothing);
    std::fill(l.sum + l.count, l.sum + padded(l.count), 0.0f);
  }
}

void SiteWeights::update(std::span<const std::int32_t> sites) {
  for (int level = 1; level < levels_; ++level) {
    std::int64_t last = -1;
    for (const std::int64_t i : sites) {
      const std::int64_t block = i >> (kBlockBits * level);
      if (block != last) sum_block(level, static_cast<int>(block));
      last = block;
    }
  }
}

void SiteWeights::set(int i, float log_weight) {
  level_[0].top[i] = log_weight;
  const std::int32_t site = i;
  update({&site, 1});
}

double SiteWeights::log_total() const {
  const Level& root = level_[levels_ - 1];
  return double{root.top[0]} + std::log(double{root.sum[0]});
}

int SiteWeights::draw(double u) const {
  int entry = 0;
  for (int level = levels_ - 1; level > 0; --level) {
    const Block of = block(level, entry);
    std::array<float, kBlock> weight;
    relative_weights(of.top, of.sum, level_[level].top[entry], of.count, weight.data());
    const Drawn drawn = draw_entry({weight.data(), of.count}, u);
    entry = entry * kBlock + drawn.entry;
    u = drawn.u;
  }
  return entry;
}

}  // namespace saltus
