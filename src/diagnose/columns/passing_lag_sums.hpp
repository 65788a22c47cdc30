// Lag sums (lag_sums.hpp) of sequences of levels that pass by in blocks and are not kept, so that
// memory does not grow with their length. One pass adds a range of lags; more lags need another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "saltus/core/rows.hpp"

namespace saltus {

class PassingLagSums {
 public:
  explicit PassingLagSums(std::size_t length) : length_(length) {}
  virtual ~PassingLagSums() = default;

  // The next pass adds the lags below `end` that are not known yet.
  void begin_pass(std::size_t end);
  // The next draws of the current sequence.
  virtual void add(std::span<const Symbol> x) = 0;
  // `length` draws have been added.
  virtual void end_sequence() = 0;
  void end_pass() { release(); }

  // From this many lags on, Fourier transforms are cheaper.
  virtual std::size_t most_lags() const = 0;
  // Of all sequences of the passes so far, by lag.
  const std::vector<double>& sums() const { return sums_; }

 protected:
  // Makes and frees the memory that is needed only during a pass.
  virtual void reserve() = 0;
  virtual void release() = 0;

  std::size_t length() const { return length_; }
  std::size_t first() const { return first_; }  // lag of the pass
  std::size_t end() const { return sums_.size(); }

  std::vector<double> sums_;

 private:
  std::size_t length_, first_ = 0;
};

// Of centred scores: the score of level k is scores[k], and means[c] is the mean of sequence c.
class PassingScoreSums final : public PassingLagSums {
 public:
  PassingScoreSums(std::size_t length, std::vector<double> scores, std::vector<double> means)
      : PassingLagSums(length), scores_(std::move(scores)), means_(std::move(means)) {}
  void add(std::span<const Symbol> x) override;
  void end_sequence() override;
  std::size_t most_lags() const override { return 256; }

 private:
  void reserve() override;
  void release() override { buffer_ = {}; }
  void multiply(std::size_t starts);

  std::vector<double> scores_, means_;
  std::size_t sequence_ = 0, filled_ = 0;
  std::vector<double> buffer_;  // entries that wait for later factors, then new ones
};

// Of the indicator x <= threshold, or of the class x == level, centred in each sequence. For a
// quantity with two values that is all there is: correlations do not depend on which two numbers
// they are.
class PassingBitSums final : public PassingLagSums {
 public:
  PassingBitSums(std::size_t length, Symbol threshold)
      : PassingLagSums(length), threshold_(threshold) {}
  static std::unique_ptr<PassingBitSums> of_class(std::size_t length, Symbol level);
  void add(std::span<const Symbol> x) override;
  void end_sequence() override;
  std::size_t most_lags() const override { return 2048; }

 private:
  void reserve() override;
  void release() override { words_ = head_ = common_ = {}; }
  template <class Holds>
  void add_bits(std::span<const Symbol> x, Holds holds);
  void add_bit(bool bit);
  void add_word(std::uint64_t word);
  void multiply(std::size_t starts);
  std::vector<std::uint64_t> ones_at_edges() const;
  void add_centred_sums(const std::vector<std::uint64_t>& edges);
  // How many words an entry and the one end() - 1 lags after it span at most, in any alignment.
  std::size_t reach() const { return (end() + 63) / 64 + 1; }

  Symbol threshold_;
  bool of_class_ = false;   // x == threshold_ in place of x <= threshold_
  std::uint64_t word_ = 0;  // the next word; `bits_` of its bits are filled
  unsigned bits_ = 0;
  std::uint64_t ones_ = 0;             // in the sequence
  std::vector<std::uint64_t> words_;   // those that wait for later factors, then new ones
  std::vector<std::uint64_t> head_;    // the first words of the sequence
  std::vector<std::uint64_t> common_;  // products of the sequence, by lag from first()
};

}  // namespace saltus
