// Locally informed proposals in double precision, for transition matrices: weights of all sites and
// levels at every state of a table, from the formula.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "saltus/diagnose/exact.hpp"
#include "saltus/sampler/balancing.hpp"

namespace saltus {

class ExactFlips {
 public:
  // `exact`: differences of log p instead of what the score promises.
  ExactFlips(const StateTable& table, Balancing balancing, int window, bool exact);

  // Calls add_lists(s, row s of the matrix) for every state; a state where there is nothing to
  // choose, because no change has a weight or the state is impossible, stays.
  void fill(Rows<double> matrix, std::span<double> acceptance,
            const std::function<void(std::size_t s, double* row)>& add_lists) const;
  // log W_i at state s, and the log of what sites not in the list weigh together.
  double log_site(std::size_t s, int i) const { return site_[s * dim_ + at(i)]; }
  double log_others(std::size_t s, std::span<const int> without) const;
  // log of w_ik / W_i
  double log_level(std::size_t s, int i, int k) const;

  // Adds to a row of a matrix, and to its acceptance, what one list of distinct sites does to state
  // s: all combinations of new levels, proposed with probability exp(log_forward) times that of the
  // levels, and tested. `log_back(t)` is the log of the probability of the way back from t, levels
  // apart.
  void add(std::size_t s, std::span<const int> distinct, double log_forward,
           const std::function<double(std::size_t t)>& log_back, double* row,
           double& acceptance) const;

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }

  const StateTable& table_;
  std::size_t dim_, width_;  // width: the most levels
  std::vector<double> site_, level_;
};

}  // namespace saltus
