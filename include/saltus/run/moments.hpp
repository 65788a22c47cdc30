// Running moments of every coordinate and chain: no draws kept.
//
// Besides mean and variance it keeps the variance of batch means, from which follow the Monte Carlo
// error and the effective sample size (Flegal & Jones 2010), and the moments of the first half,
// from which follows split R-hat.
#pragma once

#include <cstdint>
#include <vector>

#include "saltus/run/recorder.hpp"

namespace saltus {

class Moments final : public Recorder {
 public:
  // detail = false keeps sums alone, enough for the mean.
  Moments(const Domain& domain, int chains, std::uint64_t draws, bool detail);

  void record(const Tile& tile, std::span<const StepInfo> info, std::uint64_t draw) override;
  bool wants_logp() const override { return false; }
  void merge(const Recorder& other) override;
  void save(ByteWriter& out) const override;
  void restore(ByteReader& in) override;

  std::uint64_t draws() const { return chains_.empty() ? 0 : chains_[0].draws; }
  // Mean value of every coordinate over all chains.
  std::vector<double> mean() const;
  // The following need `detail`; NaN where a coordinate never changed or too little was seen.
  std::vector<double> variance() const;
  std::vector<double> ess() const;  // over all chains, by batch means
  std::vector<double> split_rhat() const;

 private:
  struct Chain {
    std::uint64_t draws = 0, batch_draws = 0, batches = 0;
    std::vector<double> total, total_square;      // over all draws
    std::vector<double> batch, batch_square_sum;  // of the running batch; of all batch sums squared
    std::vector<double> half, half_square;        // total when half of the draws were made
  };
  void end_batch(Chain& chain);

  double first_value_, spacing_;
  std::size_t dim_;
  std::uint64_t planned_, batch_length_;
  bool detail_;
  std::vector<Chain> chains_;
};

}  // namespace saltus
