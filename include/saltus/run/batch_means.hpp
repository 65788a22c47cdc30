// Batch sums of some coordinates, in a fixed amount of memory however long the run: from them
// follow effective sample sizes, R-hat and their uncertainty, without any draw being kept.
//
// Every chain has between kBatches and 2 kBatches batches of equal length; when they are full,
// neighbours are joined and the length doubles. The variance of batch means estimates the Monte
// Carlo variance (Flegal & Jones 2010).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "saltus/run/recorder.hpp"

namespace saltus {

class BatchMeans final : public Recorder {
 public:
  static constexpr std::size_t kBatches = 64;

  BatchMeans(const Domain& domain, int chains, std::vector<int> coordinates);

  void record(const Tile& tile, std::span<const StepInfo> info, std::uint64_t draw) override;
  bool wants_logp() const override { return false; }
  void merge(const Recorder& other) override;
  void save(ByteWriter& out) const override;
  void restore(ByteReader& in) override;

  std::span<const int> coordinates() const { return coordinates_; }
  std::uint64_t draws() const { return chains_[0].draws; }

  // Over all chains but `left_out` (-1: over all).
  struct Estimate {
    std::vector<double> mean, ess, rhat;  // by coordinate; NaN where it is constant
    // Of all coordinates together: how many independent draws would estimate all means with the
    // same total squared error. NaN when nothing ever changed or there are too few draws.
    double ess_of_means = 0;
  };
  Estimate estimate(int left_out = -1) const;

  // Standard error of log(ess_of_means), by leaving out one chain at a time (jackknife).
  double log_ess_error() const;

 private:
  struct Chain {
    std::uint64_t draws = 0, length = 1, in_batch = 0;  // length: draws of a batch
    std::size_t batches = 0;                            // complete ones
    std::vector<double> sums;                           // batch after batch; the last one grows
    std::vector<double> squares;                        // over all draws
  };
  void end_batch(Chain& chain) const;

  double first_value_, spacing_;
  std::vector<int> coordinates_;
  bool contiguous_;  // coordinates 0, 1, 2, ...
  std::vector<Chain> chains_;
};

}  // namespace saltus
