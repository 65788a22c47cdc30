// The order in which the coordinates of a factor graph are eliminated, and what that costs; no
// table is computed yet.
#pragma once

#include <cstdint>
#include <vector>

#include "saltus/exact.hpp"

namespace saltus {

// The tables and clauses of a model over the coordinates that have more than one level.
struct FactorScopes {
  std::vector<std::vector<std::int32_t>> scopes;  // tables first, then clauses; each sorted
};
FactorScopes scopes_of(const FactorsModel& model);

struct EliminationPlan {
  std::vector<std::int32_t> order;                    // every coordinate
  std::vector<std::vector<std::int32_t>> neighbours;  // of order[k], when it is eliminated
  int width = 0;
  double entries = 0;  // of the tables over each coordinate and its neighbours
  double work = 0;     // entries, times the functions that are added up there
};

// The cheaper one of two greedy orders: the smallest next table, or, where there are few
// coordinates, the fewest new pairs. Throws TooWide where both pass the limits.
EliminationPlan plan_elimination(const std::vector<int>& levels, const FactorScopes& factors,
                                 const EliminationLimits& limits);

}  // namespace saltus
