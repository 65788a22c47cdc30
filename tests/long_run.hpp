// Checks of samplers that have no transition matrix, by what long runs of them show.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "saltus/diagnose/exact.hpp"
#include "saltus/run/run.hpp"

namespace saltus {

// Counts each chain's visits to the states of a table.
class StateCounts final : public Recorder {
 public:
  StateCounts(const StateTable& table, int chains)
      : table_(table),
        counts_(static_cast<std::size_t>(chains), std::vector<double>(table.size())) {}
  void record(const Tile& tile, std::span<const StepInfo>, std::uint64_t) override {
    for (int r = 0; r < tile.rows(); ++r) {
      ++counts_[tile.first_slot + static_cast<std::uint32_t>(r)][table_.index(tile.x[r])];
    }
  }
  bool wants_logp() const override { return false; }
  void save(ByteWriter&) const override {}
  void restore(ByteReader&) override {}
  const std::vector<std::vector<double>>& by_chain() const { return counts_; }

 private:
  const StateTable& table_;
  std::vector<std::vector<double>> counts_;
};

struct Deviation {
  double worst = 0;  // |frequency - probability| of a state in standard errors, the largest
  double standard_error = 0;  // the largest of those
};

// Frequencies of states against their exact probabilities. The chains are independent, so their
// frequencies give the standard error of the mean.
inline Deviation deviation(const StateTable& table,
                           const std::vector<std::vector<double>>& counts_of_chains) {
  const auto chains = static_cast<double>(counts_of_chains.size());
  Deviation result;
  for (std::size_t s = 0; s < table.size(); ++s) {
    double sum = 0, squares = 0;
    for (const std::vector<double>& counts : counts_of_chains) {
      double draws = 0;
      for (double c : counts) draws += c;
      sum += counts[s] / draws;
      squares += counts[s] * counts[s] / (draws * draws);
    }
    const double mean = sum / chains;
    const double error = std::sqrt((squares / chains - mean * mean) / (chains - 1));
    result.worst = std::max(result.worst, std::abs(mean - table.probability()[s]) / error);
    result.standard_error = std::max(result.standard_error, error);
  }
  return result;
}

inline Deviation long_run(const StateTable& table, std::unique_ptr<Sampler> sampler,
                          const RunPlan& plan) {
  StateCounts counts(table, plan.chains);
  saltus::Run run(table.target(), std::move(sampler), plan);
  run.add(counts);
  run.start();
  EXPECT_TRUE(run.go());
  return deviation(table, counts.by_chain());
}

}  // namespace saltus
