// Enumerable: a sampler whose exact transition probabilities can be written down for a small space.
// The conformance checks are made of them. A sampler gives it by Sampler::enumerable.
#pragma once

#include <cstdint>
#include <span>

#include "saltus/core/domain.hpp"
#include "saltus/core/rows.hpp"

namespace saltus {

class StateTable;

class Enumerable {
 public:
  virtual ~Enumerable() = default;

  struct When {
    std::uint64_t seed = 1, step = 0;
  };
  // A sampler that visits coordinates in turn has a different kernel at each of `phases`
  // consecutive steps; which one may depend on the seed.
  virtual int phases(const Domain&) const { return 1; }

  // The exact probabilities T(x, y) of one transition between all states, and the expected
  // acceptance probability of each state.
  virtual void transition_matrix(const StateTable& table, const When& when, Rows<double> matrix,
                                 std::span<double> acceptance) const = 0;
};

}  // namespace saltus
