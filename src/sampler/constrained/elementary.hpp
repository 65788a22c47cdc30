// Elementary symmetric functions of weights a_1, a_2, ...: e_m is the sum, over all sets of m of
// them, of the product of their weights. All terms are positive, so nothing cancels; powers of two
// keep the numbers in range. Subsets are drawn by their products from a table of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace saltus {

// Writes e_0 ... e_most, divided by 2^k so that the largest is at most 1, and returns k. `room` has
// as many entries as `e`. Weights are above 0 and at most e^300.
int elementary(std::span<const double> a, std::span<double> e, std::span<double> room);

// Rows s = 0 ... n: e_0 ... e_m of the first s weights.
class ElementaryTable {
 public:
  static std::size_t entries(std::size_t weights, int m) {
    return (weights + 1) * static_cast<std::size_t>(m + 1);
  }
  // Memory: entries(n, m) numbers and n + 1 exponents.
  ElementaryTable(std::span<const double> a, int m, double* table, int* exponents);

  // Writes the places of m of the weights, in decreasing order, each set with a probability
  // proportional to the product of its weights. Takes a uniform number for each.
  void draw(const std::function<double()>& uniform, std::int32_t* places) const;

 private:
  double* row(std::size_t s) const { return table_ + s * static_cast<std::size_t>(m_ + 1); }

  std::span<const double> a_;
  int m_;
  double* table_;
  int* exponents_;
};

}  // namespace saltus
