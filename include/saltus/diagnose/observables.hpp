// Quantities of whole states, diagnosed as coordinates are: chains in different modes may agree on
// every coordinate, but hardly on log p and on the mean over all coordinates.
#pragma once

#include <string>
#include <vector>

#include "saltus/core/domain.hpp"
#include "saltus/diagnose/summary.hpp"

namespace saltus {

struct ObservableSummary : CoordinateSummary {
  std::string name;  // "log p", "mean of x"
};

// log p and, where levels are numbers, the mean over the coordinates that the draws hold. Long
// chains are read at every k-th draw: means are of these, and the ESS is at most their number.
std::vector<ObservableSummary> observe(const Draws& draws, const Domain& domain);

// The draw with the largest log p.
struct BestDraw {
  double logp = 0;
  int chain = 0;
  std::size_t draw = 0;
  std::vector<Symbol> state;  // of the coordinates that the draws hold
};
BestDraw best_state(const Draws& draws);

}  // namespace saltus
