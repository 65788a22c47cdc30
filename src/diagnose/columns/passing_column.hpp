// One column of discrete draws that passes by in blocks, once or a few times, and is never held in
// memory: how often each level occurs, and effective sample sizes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "diagnose/columns/level_counts.hpp"
#include "diagnose/columns/passing_lag_sums.hpp"

namespace saltus {

class PassingColumn {
 public:
  PassingColumn(int chains, std::size_t draws, std::size_t levels, bool tails);

  // A pass shows all half chains, one after the other, each in order and with `last` at its end.
  // The first pass counts; there are more as long as the column is open.
  void begin_pass();
  void add(int half, std::span<const Symbol> x, bool last);
  void add_middle(Symbol x);
  void end_pass();

  // Some size needs another pass.
  bool open() const { return std::ranges::any_of(questions_, &Question::open); }
  // Some size needs more lags than should be summed directly: answer_slow takes the whole column,
  // as chains of level indices.
  bool slow() const { return std::ranges::any_of(questions_, &Question::slow); }
  void answer_slow(const Chains& levels);
  // What the next pass adds to the memory of the column, about.
  std::size_t bytes_of_pass() const;

  const LevelCounts& counts() const { return counts_; }
  // What ess.hpp defines, of a column that is neither open nor slow; the tail is NaN unless wanted.
  double ess_bulk() const { return answer(bulk_); }
  double ess_mean() const { return answer(mean_); }
  double ess_tail() const;

 private:
  // The effective sample size of a function of the draws.
  struct Question {
    std::optional<Symbol> threshold;       // of an indicator x <= threshold
    std::vector<double> value;             // by level
    std::unique_ptr<PassingLagSums> sums;  // none when no further pass is needed
    std::optional<double> ess = {};

    bool open() const { return sums != nullptr; }
    bool slow() const { return !open() && !ess; }
    std::size_t next_lags() const;
  };

  void settle(Question& q);
  void ask();
  std::size_t ask_function(std::vector<double> value);  // by level
  std::size_t ask_indicator(Symbol threshold);
  double answer(std::optional<std::size_t> question) const;

  std::size_t length_;  // of a half chain
  bool tails_, counted_ = false;
  LevelCounts counts_;
  std::vector<Question> questions_;
  std::optional<std::size_t> bulk_, mean_, low_, high_;  // which question each size is
};

}  // namespace saltus
