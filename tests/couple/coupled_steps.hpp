// Steps of two coupled chains from given states, counted and compared with an exact law.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "saltus/couple/coupled_kernel.hpp"
#include "saltus/diagnose/exact.hpp"

namespace saltus {

// Two chains; joint states are x * n + y.
class CoupledSteps {
 public:
  CoupledSteps(const Target& target, const StateTable& table, const CoupledKernel& kernel)
      : target_(target),
        table_(table),
        kernel_(kernel),
        x_(2, target.domain().dim()),
        x_new_(2, target.domain().dim()),
        score_(2, target.domain().score_size()),
        score_new_(2, target.domain().score_size()),
        cache_(2, std::max(1, target.cache_size())) {
    tile.x = x_.view(), tile.score = score_.view(), tile.logp = logp_;
    if (target.cache_size() > 0) tile.target_cache = cache_.view();
    work.proposal.x = x_new_.view(), work.proposal.score = score_new_.view();
    work.proposal.logp = logp_new_;
  }

  void start(std::size_t joint) {
    std::copy_n(table_.state(joint / table_.size()), tile.x.cols, tile.x[0]);
    std::copy_n(table_.state(joint % table_.size()), tile.x.cols, tile.x[1]);
    target_.evaluate_and_cache(work.at(0), tile.x, tile.logp, tile.score, tile.target_cache);
  }
  std::size_t step(const CoupledStep& at) {
    kernel_.step(tile, at, work);
    return table_.index(tile.x[0]) * table_.size() + table_.index(tile.x[1]);
  }

  Tile tile;
  Workspace work;

 private:
  const Target& target_;
  const StateTable& table_;
  const CoupledKernel& kernel_;
  RowBuffer<Symbol> x_, x_new_;
  RowBuffer<float> score_, score_new_, cache_;
  double logp_[2] = {}, logp_new_[2] = {};
};

// A sum of chi-squares of counts against their expectations. Its normal approximation holds for
// hundreds of cells; 5 standard deviations are a fault.
class ChiSquare {
 public:
  // Counts of one multinomial law; cells that expect fewer than 5 are joined.
  void add(const std::vector<double>& seen, const std::vector<double>& law) {
    double steps = 0, pooled = 0, pooled_seen = 0;
    for (const double count : seen) steps += count;
    degrees_ -= 1;
    for (std::size_t to = 0; to < seen.size(); ++to) {
      if (seen[to] > 0 && law[to] < 1e-15) impossible_ = true;
      const double expected = steps * law[to];
      if (expected >= 5) {
        cell(expected, seen[to]);
      } else {
        pooled += expected, pooled_seen += seen[to];
      }
    }
    if (pooled >= 5) cell(pooled, pooled_seen);
  }
  double degrees() const { return degrees_; }
  bool agrees() const {
    return !impossible_ && std::abs(sum_ - degrees_) < 5 * std::sqrt(2 * degrees_);
  }

 private:
  void cell(double expected, double count) {
    sum_ += (count - expected) * (count - expected) / expected;
    ++degrees_;
  }
  double sum_ = 0, degrees_ = 0;
  bool impossible_ = false;
};

}  // namespace saltus
