// Exact answers for models that are factor graphs of low width: log Z, the probability of every
// level of every coordinate, and the best state, by eliminating one coordinate after the other.
//
//   const EliminationAnswer answer = eliminate(*factor_graph(*target));
//   ... answer.log_z, answer.best
//
// Chains, trees, narrow lattices and sparse graphs of thousands of coordinates take milliseconds;
// a graph that needs a table over too many coordinates is refused with their number.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "saltus/core/error.hpp"
#include "saltus/diagnose/exact.hpp"
#include "saltus/model/models.hpp"
#include "saltus/target/target.hpp"

namespace saltus {

// The tables would take more memory, or more work, than is allowed.
struct TooWide : UsageError {
  using UsageError::UsageError;
};

struct EliminationLimits {
  std::size_t memory = std::size_t{1} << 30;  // bytes
  double work = 1e12;                         // entries of tables, times the tables that meet there
};

struct EliminationAnswer {
  double log_z = 0;  // minus infinity where no state is possible; then nothing else is there
  std::vector<double> probabilities;  // of all levels, coordinate after coordinate
  std::vector<Symbol> best;           // a state of largest log p
  double best_logp = 0;
  int width = 0;            // the most coordinates that one is eliminated into
  std::size_t entries = 0;  // of all tables together
};

// Throws TooWide.
EliminationAnswer eliminate(const FactorsModel& model, const EliminationLimits& limits = {});

// The factor graph of a target that is one: factors, potts, quadratic and Ising models on bounded
// levels, lattices, independent bits. Nothing for others.
std::optional<FactorsModel> factor_graph(const Target& target);

// Nothing where the target is no factor graph, or one whose elimination takes more than about a
// second.
std::optional<ExactAnswer> quick_elimination(const Target& target);

}  // namespace saltus
