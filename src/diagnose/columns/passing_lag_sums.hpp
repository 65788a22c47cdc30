// Lag sums (lag_sums.hpp) of sequences of levels that pass by in blocks and are not kept, so that
// memory does not grow with their length. One pass adds a range of lags; more lags need another.
#pragma once

#include <cstddef>
#include <span>
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
  PassingScoreSums(std::size_t length, std::vector<double> scores, std::vector<double> means);
  void add(std::span<const Symbol> x) override;
  void end_sequence() override;
  std::size_t most_lags() const override { return 256; }

 private:
  void reserve() override;
  void release() override;
  void multiply(std::size_t starts);

  std::vector<double> scores_, means_;
  std::size_t sequence_ = 0, filled_ = 0;
  std::vector<double> buffer_;  // entries that wait for later factors, then new ones
};

}  // namespace saltus
