// What the diagnostics compute on: scalar sequences of one length, visited one after the other, as
// often as needed, through a buffer that holds a single chain.
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "saltus/diagnose/chains.hpp"

namespace saltus {

struct Sequences {
  // The visitor may overwrite the draws it is shown.
  using Visitor = std::function<void(std::span<double>)>;

  int count = 0;
  std::size_t length = 0;
  std::function<void(const Visitor& visit)> for_each;
};

// A diagnostic that does not exist for the draws.
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Fewer than four draws: two halves of one draw each have no variance.
bool too_short(const Chains& chains);

// These two refer to `chains`, which must outlive them: what its reader holds may be large.
Sequences whole_chains(const Chains& chains);

// The first and the second half of every chain. The middle draw of an odd number is left out.
Sequences half_chains(const Chains& chains);

// The same sequences after `change` has overwritten each of them.
Sequences changed(const Sequences& sequences, const Sequences::Visitor& change);

// Subtracts the mean and returns it. A constant sequence becomes exactly zero.
double centre(std::span<double> x);

double sum_of_squares(std::span<const double> x);

// The variance with denominator n - 1. Exactly zero if all entries are equal.
double sample_variance(std::vector<double> x);

// Per-sequence means, and the sum of the squared deviations from them over all sequences.
struct SequenceMoments {
  std::vector<double> means;
  double squares = 0;
};
SequenceMoments moments_of(const Sequences& sequences);

// sqrt(var_plus / W) of sequences with `length` draws each (see split_rhat).
double plain_rhat(const SequenceMoments& moments, std::size_t length);

}  // namespace saltus
