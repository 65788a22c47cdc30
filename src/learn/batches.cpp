// Which rows of the data, and which entries of the replay buffer, an iteration of learning takes.
#include "saltus/learn/batches.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "saltus/core/error.hpp"
#include "saltus/core/philox.hpp"
#include "saltus/learn/replay_buffer.hpp"

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

ReplayBuffer::ReplayBuffer(int entries, const Independent& start, std::uint64_t seed)
    : entries_(entries), dim_(start.domain().dim()), seed_(seed) {
  if (entries < 1) throw UsageError("a replay buffer needs at least one entry");
  for (int i = 0; i < dim_; ++i) {
    if (start.domain().levels(i) > 256) {
      throw UsageError("a replay buffer holds states of at most 256 levels");
    }
  }
  levels_.resize(begin(entries));
  std::vector<Symbol> x(static_cast<std::size_t>(dim_));
  for (std::int32_t e = 0; e < entries; ++e) {
    start.draw(Stream(seed, static_cast<std::uint32_t>(e), 0, Purpose::start), x.data());
    for (std::size_t i = 0; i < x.size(); ++i) {
      levels_[begin(e) + i] = static_cast<std::uint8_t>(x[i]);
    }
  }
}

// The first steps of Fisher and Yates' shuffle.
std::vector<std::int32_t> ReplayBuffer::choose(std::uint64_t iteration, int count) const {
  std::vector<std::int32_t> order(static_cast<std::size_t>(entries_));
  std::iota(order.begin(), order.end(), 0);
  const Stream stream(seed_, kAllChains, iteration, Purpose::batch);
  for (int k = 0; k < count; ++k) {
    const double u = stream.uniform(static_cast<std::uint32_t>(k));
    const int other = k + static_cast<int>(u * (entries_ - k));
    std::swap(order[static_cast<std::size_t>(k)], order[static_cast<std::size_t>(other)]);
  }
  order.resize(static_cast<std::size_t>(count));
  return order;
}

void ReplayBuffer::get(std::span<const std::int32_t> which, Rows<Symbol> to) const {
  for (std::size_t r = 0; r < which.size(); ++r) {
    std::copy_n(levels_.data() + begin(which[r]), dim_, to[static_cast<int>(r)]);
  }
}

void ReplayBuffer::put(std::span<const std::int32_t> which, Rows<const Symbol> from) {
  for (std::size_t r = 0; r < which.size(); ++r) {
    const Symbol* x = from[static_cast<int>(r)];
    std::transform(x, x + dim_, levels_.data() + begin(which[r]),
                   [](Symbol level) { return static_cast<std::uint8_t>(level); });
  }
}

}  // namespace saltus
