// Exact answers by going through every state: up to some ten million of them.
#pragma once

#include <cstdint>
#include <vector>

#include "saltus/target/target.hpp"

namespace saltus {

struct ExactAnswer {
  double log_z = 0;           // of exp(logp)
  std::vector<double> means;  // of every coordinate's value
};

// Evaluates logp of all states. The domain must be bounded; the caller decides whether it is small
// enough (Domain::states). threads 0: all cores.
ExactAnswer exact_answer(const Target& target, int threads = 0);

}  // namespace saltus
