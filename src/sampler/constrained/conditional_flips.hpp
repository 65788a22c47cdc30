// Independent flips of coordinates given that the new state keeps a constraint: the set I has
// probability exp(sum of l_i over I) / Z among all sets that lead to an allowed state.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "saltus/core/philox.hpp"
#include "saltus/core/scratch.hpp"
#include "saltus/target/constraint.hpp"

namespace saltus {

// Uses the slots 1 to 5 of a Scratch.
class ConditionalFlips {
 public:
  virtual ~ConditionalFlips() = default;

  // Prepares the law at an allowed state x. The log weights l become those in force, which give
  // the same law but for weights beyond e^300, which are cut. Returns log Z.
  virtual double condition(const Symbol* x, std::span<double> l, Scratch& room) const = 0;
  // Draws a set from the law that was prepared last, and returns the number of its places.
  virtual int draw(const Symbol* x, std::span<const double> l, const Stream& stream, Scratch& room,
                   std::int32_t* flips) const = 0;
  // The sum of l over a set that leads from x to an allowed state; minus infinity where `draw`
  // never gives it.
  virtual double log_weight(const Symbol* x, std::span<const double> l,
                            std::span<const std::int32_t> flips, Scratch& room) const;
};

// The most ones that a step may move each way, where the law must hold sums for each of them.
inline constexpr int kMostSwaps = 64;

// `most`: of a sum, how many ones may go and how many may come in one step; 0: the usual number.
std::unique_ptr<ConditionalFlips> conditional_flips(const Constraint& constraint, int most);
// What `most` is then; 0 where the constraint is no sum.
int most_swaps(const Constraint& constraint, int most);

}  // namespace saltus
