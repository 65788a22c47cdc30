#include "diagnose/columns/passing_lag_sums.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "diagnose/columns/lag_sums.hpp"
#include "ops/ops.hpp"

namespace saltus {
namespace {

constexpr std::size_t kNewEntries = 1024;  // between two rounds of products
constexpr std::size_t kNewWords = 256;     // between two rounds of products

// Bit j is holds(x[j]).
template <class Holds>
std::uint64_t packed(const Symbol* x, Holds holds) {
  std::array<std::uint8_t, 64> bit;
  for (std::size_t j = 0; j < 64; ++j) bit[j] = holds(x[j]);
  std::uint64_t word = 0;
  for (std::size_t byte = 0; byte < 64; byte += 8) {
    std::uint64_t eight = 0;
    for (std::size_t j = 0; j < 8; ++j) eight |= std::uint64_t{bit[byte + j]} << (8 * j);
    // The factor 2^(56 - 7j) moves the bit of byte j to place 56 + j.
    word |= (eight * 0x0102040810204080) >> 56 << byte;
  }
  return word;
}

bool bit_at(const std::vector<std::uint64_t>& words, std::size_t t) {
  return words[t / 64] >> (t % 64) & 1;
}

}  // namespace

void PassingLagSums::begin_pass(std::size_t end) {
  first_ = sums_.size();
  sums_.resize(std::clamp(end, first_, length_));
  reserve();
}

void PassingScoreSums::reserve() {
  buffer_.resize(end() + kNewEntries);
  sequence_ = filled_ = 0;
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

void PassingBitSums::reserve() {
  words_.reserve(2 * reach() + kNewWords);
  common_.assign(end() - first(), 0);
}

std::unique_ptr<PassingBitSums> PassingBitSums::of_class(std::size_t length, Symbol level) {
  auto sums = std::make_unique<PassingBitSums>(length, level);
  sums->of_class_ = true;
  return sums;
}

void PassingBitSums::add(std::span<const Symbol> x) {
  const Symbol level = threshold_;
  if (of_class_) return add_bits(x, [level](Symbol s) { return s == level; });
  add_bits(x, [level](Symbol s) { return s <= level; });
}

template <class Holds>
void PassingBitSums::add_bits(std::span<const Symbol> x, Holds holds) {
  for (std::size_t t = 0; t < x.size();) {
    if (bits_ == 0 && t + 64 <= x.size()) {
      add_word(packed(&x[t], holds));
      t += 64;
    } else {
      add_bit(holds(x[t++]));
    }
  }
}

void PassingBitSums::add_bit(bool bit) {
  word_ |= std::uint64_t{bit} << bits_++;
  if (bits_ < 64) return;
  add_word(word_);
  word_ = bits_ = 0;
}

void PassingBitSums::add_word(std::uint64_t word) {
  if (head_.size() < reach()) head_.push_back(word);
  words_.push_back(word);
  if (words_.size() == reach() + kNewWords) multiply(kNewWords);
}

// Adds the products whose earlier factor is in one of the first `starts` words, and drops those.
void PassingBitSums::multiply(std::size_t starts) {
  const auto common_bits = ops::active().common_bits;
  ones_ += common_bits(words_.data(), words_.data(), starts, 0);
  for (std::size_t lag = first(); lag < end(); ++lag) {
    common_[lag - first()] += common_bits(words_.data(), words_.data() + lag / 64, starts,
                                          static_cast<unsigned>(lag % 64));
  }
  words_.erase(words_.begin(), words_.begin() + static_cast<std::ptrdiff_t>(starts));
}

void PassingBitSums::end_sequence() {
  while (bits_ > 0) add_bit(false);
  const std::vector<std::uint64_t> edges = ones_at_edges();
  const std::size_t left = words_.size();
  words_.resize(left + reach());
  multiply(left);
  add_centred_sums(edges);
  words_.clear();
  head_.clear();
  ones_ = 0;
  std::fill(common_.begin(), common_.end(), 0);
}

// By lag k: how many of the first k and of the last k entries are ones.
std::vector<std::uint64_t> PassingBitSums::ones_at_edges() const {
  const std::size_t dropped = (length() + 63) / 64 - words_.size();
  std::vector<std::uint64_t> edges(end());
  for (std::size_t k = 1; k < end(); ++k) {
    const bool from_start = bit_at(head_, k - 1);
    const bool from_end = bit_at(words_, length() - k - 64 * dropped);
    edges[k] = edges[k - 1] + from_start + from_end;
  }
  return edges;
}

// sum (x_t - m)(x_t+k - m) = sum x_t x_t+k - m (sum of all x_t + sum of all x_t+k) + (n - k) m^2.
void PassingBitSums::add_centred_sums(const std::vector<std::uint64_t>& edges) {
  // 1 - x has the same sums as x. The rarer value counts as one: then no term is much larger than
  // the variance, and nothing cancels.
  const bool swap = 2 * ones_ > length();
  const double n = static_cast<double>(length());
  const double mean = static_cast<double>(swap ? length() - ones_ : ones_) / n;
  for (std::size_t k = first(); k < end(); ++k) {
    const std::uint64_t pairs = length() - k;
    std::uint64_t both = common_[k - first()], either = 2 * ones_ - edges[k];
    if (swap) {
      both = pairs + both - either;
      either = 2 * pairs - either;
    }
    sums_[k] += static_cast<double>(both) - mean * static_cast<double>(either) +
                static_cast<double>(pairs) * mean * mean;
  }
}

}  // namespace saltus
