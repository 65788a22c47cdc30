// Coordinates in groups that do not interact.
#pragma once

#include <cstdint>
#include <vector>

#include "saltus/target/target.hpp"

namespace saltus {

inline bool knows_groups(const Target& target) {
  return target.gibbs_sweeps() && target.gibbs_sweeps()->groups() > 0;
}

// All coordinates, group by group; every coordinate joins the first group in which it has no
// neighbour (a greedy colouring of the graph of interactions).
std::vector<std::int32_t> in_colours(const LocalMoves& local, int dim);

}  // namespace saltus
