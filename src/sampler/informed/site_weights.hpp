// Weights of the sites of one chain, by which sites are drawn: their logarithms, and sums over
// blocks of 64 sites, over blocks of 64 blocks, and so on up to a single one. A change of few sites
// touches few blocks, so drawing a site, the total and an update cost 64 log n, not n. Every sum is
// computed from what it sums, never by adding a difference: the whole is a function of the log
// weights and carries no rounding along.
#pragma once

#include <cstdint>
#include <span>

namespace saltus {

class SiteWeights {
 public:
  static constexpr int kBlockBits = 6, kBlock = 1 << kBlockBits;

  // Floats that the weights of n sites take.
  static int size(int n);

  // A view of memory of that size.
  SiteWeights(int n, float* memory);

  int sites() const { return n_; }
  // To be read and written, with `rebuild` or `update` after writing. Minus infinity is a weight
  // of 0.
  std::span<float> log_weights() const { return {level_[0].top, static_cast<std::size_t>(n_)}; }
  double log_weight(int i) const { return double{level_[0].top[i]}; }

  // Computes all sums.
  void rebuild();
  // Computes the sums that contain sites of a list in increasing order.
  void update(std::span<const std::int32_t> sites);
  // Changes one weight and the sums that contain it.
  void set(int i, float log_weight);

  // The log of the sum of all weights: minus infinity when all are 0, NaN when one is.
  double log_total() const;
  // A site with probability exp(log_weight - log_total), given u uniform on (0, 1). Some weight
  // must not be 0.
  int draw(double u) const;

 private:
  // The weight of entry b of a level is sum[b] exp(top[b]); on the level of the sites sum is 1 and
  // is not stored.
  struct Level {
    int count = 0;
    float *top = nullptr, *sum = nullptr;
  };
  static constexpr int kLevels = 7;  // 64^6 sites are more than an int can count

  // What entry b of a level sums: entries of the level below, in whole groups of lanes.
  struct Block {
    const float *top, *sum;
    std::size_t count;
  };
  Block block(int level, int b) const;
  void sum_block(int level, int b);

  int n_, levels_ = 1;
  Level level_[kLevels];
};

}  // namespace saltus
