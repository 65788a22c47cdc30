#include "saltus/learn/batches.hpp"

#include <numeric>
#include <string>
#include <utility>

#include "saltus/core/error.hpp"
#include "saltus/core/philox.hpp"

namespace saltus {

Batches::Batches(int rows, int batch, bool drop_last, std::uint64_t seed)
    : rows_(rows),
      batch_(batch),
      drop_last_(drop_last),
      seed_(seed),
      epoch_(0),
      order_(static_cast<std::size_t>(rows > 0 ? rows : 0)) {
  if (batch < 1 || batch > rows) {
    throw UsageError("a batch of " + std::to_string(batch) + " rows cannot be taken from " +
                     std::to_string(rows) + " rows of data");
  }
  chosen_.resize(static_cast<std::size_t>(batch));
  shuffle(0);
}

// Fisher and Yates.
void Batches::shuffle(std::uint64_t epoch) {
  epoch_ = epoch;
  std::iota(order_.begin(), order_.end(), 0);
  const Stream stream(seed_, kAllChains, epoch, Purpose::batch);
  for (std::size_t i = order_.size(); i > 1; --i) {
    const double u = stream.uniform(static_cast<std::uint32_t>(i));
    std::swap(order_[i - 1], order_[static_cast<std::size_t>(u * static_cast<double>(i))]);
  }
}

std::span<const std::int32_t> Batches::at(std::uint64_t iteration) {
  std::uint64_t position = iteration * static_cast<std::uint64_t>(batch_);
  for (std::int32_t& row : chosen_) {
    const std::uint64_t epoch = position / per_epoch();
    if (epoch != epoch_) shuffle(epoch);
    row = order_[position % per_epoch()];
    ++position;
  }
  return chosen_;
}

std::uint64_t Batches::iterations(std::uint64_t epochs) const {
  const auto batch = static_cast<std::uint64_t>(batch_);
  return (epochs * per_epoch() + batch - 1) / batch;
}

}  // namespace saltus
