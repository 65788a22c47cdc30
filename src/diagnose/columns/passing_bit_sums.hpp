// Lag sums of an indicator that passes by: 64 draws a word, products by counting common bits.
#pragma once

#include <cstdint>
#include <vector>

#include "diagnose/columns/passing_lag_sums.hpp"

namespace saltus {

// Of the indicator x <= threshold, centred in each sequence. For a quantity with two values that is
// all there is: correlations do not depend on which two numbers they are.
class PassingBitSums final : public PassingLagSums {
 public:
  PassingBitSums(std::size_t length, Symbol threshold);
  void add(std::span<const Symbol> x) override;
  void end_sequence() override;
  std::size_t most_lags() const override { return 2048; }

 private:
  void reserve() override;
  void release() override;
  void add_bit(bool bit);
  void add_word(std::uint64_t word);
  void multiply(std::size_t starts);
  std::vector<std::uint64_t> ones_at_edges() const;
  void add_centred_sums(const std::vector<std::uint64_t>& edges);
  // How many words an entry and the one end() - 1 lags after it span at most, in any alignment.
  std::size_t reach() const { return (end() + 63) / 64 + 1; }

  Symbol threshold_;
  std::uint64_t word_ = 0;  // the next word, of which `bits_` bits are there
  unsigned bits_ = 0;
  std::uint64_t ones_ = 0;             // in the sequence
  std::vector<std::uint64_t> words_;   // those that wait for later factors, then new ones
  std::vector<std::uint64_t> head_;    // the first words of the sequence
  std::vector<std::uint64_t> common_;  // products of the sequence, by lag from first()
};

}  // namespace saltus
