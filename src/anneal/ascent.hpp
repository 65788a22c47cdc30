// Greedy ascent: from a state to one that no change of a single coordinate improves.
#pragma once

#include <span>
#include <vector>

#include "saltus/core/scratch.hpp"
#include "saltus/target/target.hpp"

namespace saltus {

// A state with the changes of log p by one coordinate: by local moves where the target has them,
// otherwise by an evaluation of each. x stays the caller's, with room for a padded row.
class Neighbourhood {
 public:
  Neighbourhood(const Target& target, Symbol* x);

  // log p with each level of coordinate i, less log p.
  std::span<const double> differences(int i);
  void move(int i, Symbol to);

 private:
  LocalRow row();
  void evaluate();

  const Target& target_;
  const LocalMoves* moves_;
  Symbol* x_;
  double logp_ = 0;
  Scratch scratch_;
  RowBuffer<float> score_, cache_;
  RowBuffer<Symbol> changed_;
  std::vector<double> differences_;
};

// Takes the first improvement, coordinates and levels in order, until a pass changes nothing. Under
// a constraint, it moves ones instead.
void greedy_ascent(const Target& target, Symbol* x);

}  // namespace saltus
