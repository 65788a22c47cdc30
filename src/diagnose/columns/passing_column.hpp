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
  // classes > 0: the levels have no order, and in place of bulk, mean and tail it is the indicators
  // of the most frequent levels, so many at most, whose sizes are asked for.
  PassingColumn(int chains, std::size_t draws, std::size_t levels, bool tails,
                std::size_t classes = 0);

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

  // A level that occurs, as a class: what ess_mean and rhat find in its indicator.
  struct Class {
    std::size_t level;
    double ess, rhat;
  };
  // By level.
  std::vector<Class> classes() const;

 private:
  // The effective sample size of a function of the draws.
  struct Question {
    std::optional<Symbol> threshold;       // of an indicator x <= threshold
    std::optional<Symbol> level;           // of a class x == level
    std::vector<double> value;             // by level
    std::unique_ptr<PassingLagSums> sums;  // none when no further pass is needed
    std::optional<double> ess = {};

    bool open() const { return sums != nullptr; }
    bool slow() const { return !open() && !ess; }
    std::size_t next_lags() const;
  };

  void settle(Question& q);
  void ask();
  void ask_of_levels();
  void ask_of_classes();
  std::size_t ask_function(std::vector<double> value);  // by level
  std::size_t ask_indicator(Symbol threshold);
  std::size_t ask_class(Symbol level);
  double answer(std::optional<std::size_t> question) const;

  std::size_t length_;  // of a half chain
  bool tails_, counted_ = false;
  std::size_t most_classes_;
  LevelCounts counts_;
  std::vector<Question> questions_;
  std::optional<std::size_t> bulk_, mean_, low_, high_;  // which question each size is
  struct AskedClass {
    std::size_t level;
    std::optional<std::size_t> question;
  };
  std::vector<AskedClass> classes_;
};

}  // namespace saltus
