#include "saltus/diagnose/state_table.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/core/error.hpp"

namespace saltus {

StateTable::StateTable(const Target& target, int levels)
    : target_(target),
      domain_(target.domain().unbounded() ? target.domain().truncated(levels) : target.domain()) {
  const auto count = domain_.states(kMostStates);
  if (!count) {
    throw UsageError("the model has more than " + std::to_string(kMostStates) +
                     " states, too many for an exact table");
  }
  const int states = static_cast<int>(*count), dim = domain_.dim();
  x_ = RowBuffer<Symbol>(states, dim);
  for (int s = 0; s < states; ++s) {
    for (int i = dim - 1, rest = s; i >= 0; rest /= domain_.levels(i), --i) {
      x_.view()[s][i] = static_cast<Symbol>(rest % domain_.levels(i));
    }
  }
  score_ = RowBuffer<double>(states, domain_.score_size());
  logp_.resize(*count);
  Scratch scratch;
  target.evaluate_exact({0, 0, scratch}, x_.view(), logp_.data(), score_.view());
  const double top = *std::max_element(logp_.begin(), logp_.end());
  double sum = 0;
  for (double l : logp_) sum += std::exp(l - top);
  log_z_ = top + std::log(sum);
  for (double l : logp_) probability_.push_back(std::exp(l - log_z_));
}

std::size_t StateTable::index(const Symbol* x) const {
  std::size_t s = 0;
  for (int i = 0; i < domain_.dim(); ++i) {
    if (x[i] >= domain_.levels(i)) return size();
    s = s * static_cast<std::size_t>(domain_.levels(i)) + x[i];
  }
  return s;
}

std::vector<double> StateTable::means(std::span<const double> law) const {
  std::vector<double> mean(static_cast<std::size_t>(domain_.dim()));
  for (std::size_t s = 0; s < size(); ++s) {
    for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += law[s] * domain_.value(state(s)[i]);
  }
  return mean;
}

}  // namespace saltus
