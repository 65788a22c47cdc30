// Quantities of whole states, diagnosed as coordinates are: chains in different modes may agree on
// every coordinate, but hardly on log p and on the mean over all coordinates.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "saltus/diagnose/expression.hpp"
#include "saltus/diagnose/summary.hpp"
#include "saltus/run/best_draw.hpp"
#include "saltus/target/target.hpp"

namespace saltus {

// What ess_mean and mcse_mean (chains.hpp) find, and the larger of the split R-hat of the values
// and that of their distances from the mean: without ranks, which cost more than all else.
struct ObservableSummary {
  std::string name;  // "log p", "mean of x"
  double mean = 0, sd = 0;
  double mcse = 0, ess = 0, rhat = 0;  // NaN where it never changed, or is not finite at times
  bool of_pairs = false;               // of chains
};

// A quantity along the chains. Long chains are read at every k-th draw.
struct Observed {
  std::string name;
  RowBuffer<double> series;  // a row for each chain; of an overlap, for each pair of chains
  bool of_pairs = false;
  std::size_t every = 1;  // k
};

// How many draws of each chain are read: 20,000 at most, or so few that this takes hardly any time
// beside the run that made them, 1000 to 4000.
enum class Reading { thorough, quick };

// In this order, as far as the draws have them:
//   log p
//   mean of x        over the coordinates that the draws hold, where levels are numbers
//   overlap          of the chains 0 and 1, 2 and 3, ... at the same draw: the mean of x_a x_b over
//                    the coordinates; of bits and of unordered levels the share of equal ones
//   neighbours       the same over the model's bonds (DrawsInfo::bonds): the mean of x_i x_j, or
//                    the share of bonds whose ends are equal
// and those that the caller asks for.
std::vector<Observed> observed_series(const Draws& draws, std::span<const Expression> own = {},
                                      Reading reading = Reading::thorough);

// Means are of the draws that were read, and the ESS is at most about their number.
ObservableSummary summarise(const Observed& observed);
std::vector<ObservableSummary> observe(const Draws& draws, std::span<const Expression> own = {},
                                       Reading reading = Reading::thorough);

// What expressions are about, for these draws.
ExpressionSpace expression_space(const DrawsInfo& info, int dim);

// Pairs of coordinates that the target's log p couples, one after the other, each once: DrawsInfo's
// bonds. Empty where coordinates have more neighbours than on a lattice, where they all are
// independent, and for millions of bonds.
std::vector<int> sparse_bonds(const Target& target);

// Of the coordinates that the draws hold; nothing where no log p is a number.
std::optional<BestDraw> best_state(const Draws& draws);

}  // namespace saltus
