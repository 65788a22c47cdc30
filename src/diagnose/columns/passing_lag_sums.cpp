#include "diagnose/columns/passing_lag_sums.hpp"

#include <algorithm>
#include <utility>

#include "diagnose/columns/lag_sums.hpp"

namespace saltus {
namespace {

constexpr std::size_t kNewEntries = 1024;  // between two rounds of products

}  // namespace

void PassingLagSums::begin_pass(std::size_t end) {
  first_ = sums_.size();
  sums_.resize(std::clamp(end, first_, length_));
  reserve();
}

PassingScoreSums::PassingScoreSums(std::size_t length, std::vector<double> scores,
                                   std::vector<double> means)
    : PassingLagSums(length), scores_(std::move(scores)), means_(std::move(means)) {}

void PassingScoreSums::reserve() {
  buffer_.resize(end() + kNewEntries);
  sequence_ = filled_ = 0;
}

void PassingScoreSums::release() {
  buffer_ = {};
}

void PassingScoreSums::add(std::span<const Symbol> x) {
  while (!x.empty()) {
    const std::size_t count = std::min(x.size(), buffer_.size() - filled_);
    for (std::size_t i = 0; i < count; ++i) {
      buffer_[filled_ + i] = scores_[x[i]] - means_[sequence_];
    }
    x = x.subspan(count);
    filled_ += count;
    // The last entries must still meet those that follow.
    if (filled_ == buffer_.size()) multiply(filled_ - end());
  }
}

void PassingScoreSums::end_sequence() {
  multiply(filled_);
  ++sequence_;
}

void PassingScoreSums::multiply(std::size_t starts) {
  const auto entries = std::span(buffer_).first(filled_);
  add_lag_sums(entries, starts, first(), std::span(sums_).subspan(first()));
  std::copy(entries.begin() + static_cast<std::ptrdiff_t>(starts), entries.end(), buffer_.begin());
  filled_ -= starts;
}

}  // namespace saltus
