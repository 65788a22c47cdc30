// Exact answers by going through every state, and tables of all states of small spaces.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "saltus/target/target.hpp"

namespace saltus {

struct ExactAnswer {
  double log_z = 0;           // of exp(logp)
  std::vector<double> means;  // of every coordinate's value
  // Of unordered levels: the probability of level k of coordinate i is the entry
  // Domain::score_begin(i) + k. Empty where levels are ordered.
  std::vector<double> classes = {};
};

// Evaluates logp of all states, up to some ten million of them. The domain must be bounded; the
// caller decides whether it is small enough (count_states). threads 0: all cores.
ExactAnswer exact_answer(const Target& target, int threads = 0);

// Every state of a small space, with its logp, score and probability: what exact checks are made
// of. Where the target has a constraint, every state that this allows.
class StateTable {
 public:
  static constexpr std::size_t kMostStates = 4096;

  // States in lexicographic order, the first coordinate slowest. An unbounded domain is cut off
  // after `levels` levels per coordinate. Throws UsageError when there are more than kMostStates
  // states. The target must outlive the table.
  explicit StateTable(const Target& target, int levels = 64);

  const Target& target() const { return target_; }
  const Domain& domain() const { return domain_; }
  std::size_t size() const { return logp_.size(); }
  const Symbol* state(std::size_t s) const { return x_.view()[static_cast<int>(s)]; }
  const double* score(std::size_t s) const { return score_.view()[static_cast<int>(s)]; }
  double logp(std::size_t s) const { return logp_[s]; }
  // The number of a state; size() for one that is not in the table.
  std::size_t index(const Symbol* x) const;

  // Normalised probabilities, and log Z.
  std::span<const double> probability() const { return probability_; }
  double log_z() const { return log_z_; }
  // Mean value of every coordinate under the given law on the states.
  std::vector<double> means(std::span<const double> law) const;

 private:
  std::size_t place(const Symbol* x) const;

  const Target& target_;
  Domain domain_;
  RowBuffer<Symbol> x_;
  RowBuffer<double> score_;
  std::vector<double> logp_, probability_;
  double log_z_ = 0;
};

}  // namespace saltus
