// Which rows of a data set the batches hold: every epoch takes the rows in a new order, which is a
// function of the seed and the epoch.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace saltus {

class Batches {
 public:
  // drop_last: rows that do not fill a last batch of the epoch are left out of it. Otherwise they
  // make a batch with the first rows of the next epoch, so that all batches have the same size.
  // Throws UsageError when a batch would have no rows, or more than there are.
  Batches(int rows, int batch, bool drop_last, std::uint64_t seed);

  int size() const { return batch_; }
  // The rows of a batch; valid until the next call.
  std::span<const std::int32_t> at(std::uint64_t iteration);

  double epochs(std::uint64_t iterations) const {
    return static_cast<double>(iterations) * batch_ / static_cast<double>(per_epoch());
  }
  std::uint64_t iterations(std::uint64_t epochs) const;  // until they are complete

 private:
  // Rows that an epoch uses.
  std::uint64_t per_epoch() const {
    return static_cast<std::uint64_t>(drop_last_ ? rows_ / batch_ * batch_ : rows_);
  }
  void shuffle(std::uint64_t epoch);

  int rows_, batch_;
  bool drop_last_;
  std::uint64_t seed_, epoch_;
  std::vector<std::int32_t> order_, chosen_;
};

}  // namespace saltus
