#include "diagnose/columns/passing_column.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include "diagnose/columns/lag_sums.hpp"
#include "diagnose/columns/passing_lag_sums.hpp"
#include "diagnose/columns/ranks.hpp"

namespace saltus {
namespace {

constexpr std::size_t kFirstLags = 64;

// The most frequent levels, by level. Equal counts: the lower level.
std::vector<std::size_t> most_frequent(std::span<const std::size_t> counts, std::size_t most) {
  std::vector<std::size_t> levels;
  for (std::size_t k = 0; k < counts.size(); ++k) {
    if (counts[k] > 0) levels.push_back(k);
  }
  if (levels.size() <= most) return levels;
  std::ranges::stable_sort(levels, std::greater<>(), [&](std::size_t k) { return counts[k]; });
  levels.resize(most);
  std::ranges::sort(levels);
  return levels;
}

}  // namespace

PassingColumn::PassingColumn(int chains, std::size_t draws, std::size_t levels, bool tails,
                             std::size_t classes)
    : length_(draws / 2), tails_(tails), most_classes_(classes), counts_(2 * chains, levels) {
  // With two levels the question is known before they are counted, which saves a pass.
  if (levels == 2 && length_ > 1) ask_indicator(0);
}

// Fourfold, so that all passes together cost little more than the last one.
std::size_t PassingColumn::Question::next_lags() const {
  return sums->sums().empty() ? kFirstLags : std::min(4 * sums->sums().size(), sums->most_lags());
}

void PassingColumn::begin_pass() {
  for (Question& q : questions_) {
    if (q.open()) q.sums->begin_pass(q.next_lags());
  }
}

void PassingColumn::add(int half, std::span<const Symbol> x, bool last) {
  if (!counted_) counts_.add(half, x);
  for (Question& q : questions_) {
    if (!q.open()) continue;
    q.sums->add(x);
    if (last) q.sums->end_sequence();
  }
}

void PassingColumn::add_middle(Symbol x) {
  if (!counted_) counts_.add_middle(x);
}

void PassingColumn::end_pass() {
  for (Question& q : questions_) {
    if (q.open()) settle(q);
  }
  if (!counted_) ask();
  counted_ = true;
}

void PassingColumn::settle(Question& q) {
  q.sums->end_pass();
  const std::vector<double>& sums = q.sums->sums();
  q.ess = combined_ess(half_moments(counts_, q.value).means, length_, sums);
  if (q.ess || sums.size() >= q.sums->most_lags()) q.sums.reset();
}

void PassingColumn::answer_slow(const Chains& levels) {
  for (Question& q : questions_) {
    if (!q.slow()) continue;
    const Sequences halves = changed(half_chains(levels), [&q](std::span<double> x) {
      for (double& draw : x) draw = q.value[static_cast<std::size_t>(draw)];
    });
    q.ess = combined_ess(half_moments(counts_, q.value).means, length_, all_lag_sums(halves));
  }
}

std::size_t PassingColumn::bytes_of_pass() const {
  constexpr std::size_t kBuffers = std::size_t{12} << 10, kBuffersOfBits = std::size_t{4} << 10;
  std::size_t bytes = 0;
  for (const Question& q : questions_) {
    if (!q.open()) continue;
    bytes += (q.level ? kBuffersOfBits : kBuffers) + 3 * sizeof(double) * q.next_lags();
  }
  return bytes;
}

void PassingColumn::ask() {
  if (most_classes_ > 0) return ask_of_classes();
  if (length_ > 1) ask_of_levels();
}

void PassingColumn::ask_of_levels() {
  const CountedValues halves = counted_levels(counts_.of_halves());
  // Of two levels, ranks and values differ by a shift and a factor alone.
  if (halves.values.size() == 2) {
    bulk_ = mean_ = ask_indicator(static_cast<Symbol>(halves.values[0]));
  }
  if (halves.values.size() > 2) {
    bulk_ = ask_function(normal_scores(counts_.of_halves()));
    std::vector<double> levels(counts_.levels());
    std::iota(levels.begin(), levels.end(), 0.0);
    mean_ = ask_function(std::move(levels));
  }
  if (!tails_) return;
  // As in ess_tail: the 5 % and 95 % quantiles.
  const CountedValues all = counted_levels(counts_.of_all());
  const std::size_t last = all.total - 1;
  low_ = ask_indicator(static_cast<Symbol>(all.order_statistic(last / 20)));
  high_ = ask_indicator(static_cast<Symbol>(all.order_statistic(19 * last / 20)));
}

void PassingColumn::ask_of_classes() {
  const CountedValues halves = counted_levels(counts_.of_halves());
  for (const std::size_t level : most_frequent(counts_.of_all(), most_classes_)) {
    classes_.push_back({level, std::nullopt});
    if (length_ < 2 || halves.values.size() < 2) continue;
    // A level that is only in the middle of a chain is in no half.
    if (!std::ranges::binary_search(halves.values, static_cast<double>(level))) continue;
    // Of two levels, one is 1 where the other is 0.
    classes_.back().question = halves.values.size() == 2
                                   ? ask_indicator(static_cast<Symbol>(halves.values[0]))
                                   : ask_class(static_cast<Symbol>(level));
  }
}

std::size_t PassingColumn::ask_function(std::vector<double> value) {
  std::vector<double> means = half_moments(counts_, value).means;
  auto sums = std::make_unique<PassingScoreSums>(length_, value, std::move(means));
  questions_.push_back({std::nullopt, std::nullopt, std::move(value), std::move(sums)});
  return questions_.size() - 1;
}

std::size_t PassingColumn::ask_indicator(Symbol threshold) {
  const auto same = std::find_if(questions_.begin(), questions_.end(),
                                 [&](const Question& q) { return q.threshold == threshold; });
  if (same != questions_.end()) return static_cast<std::size_t>(same - questions_.begin());
  std::vector<double> value(counts_.levels());
  std::fill_n(value.begin(), std::size_t{threshold} + 1, 1.0);
  auto sums = std::make_unique<PassingBitSums>(length_, threshold);
  questions_.push_back({threshold, std::nullopt, std::move(value), std::move(sums)});
  return questions_.size() - 1;
}

std::size_t PassingColumn::ask_class(Symbol level) {
  std::vector<double> value(counts_.levels());
  value[level] = 1;
  questions_.push_back(
      {std::nullopt, level, std::move(value), PassingBitSums::of_class(length_, level)});
  return questions_.size() - 1;
}

double PassingColumn::answer(std::optional<std::size_t> question) const {
  return question ? *questions_[*question].ess : kNaN;
}

std::vector<PassingColumn::Class> PassingColumn::classes() const {
  std::vector<Class> list;
  for (const AskedClass& c : classes_) {
    list.push_back({c.level, answer(c.question), kNaN});
    if (!c.question) continue;
    const Question& q = questions_[*c.question];
    // Ranks of two values are a shift and a factor away from the values; folding adds nothing.
    list.back().rhat = plain_rhat(half_moments(counts_, q.value), length_);
  }
  return list;
}

double PassingColumn::ess_tail() const {
  // fmin leaves out a NaN: an indicator that is the same in every draw.
  return std::fmin(answer(low_), answer(high_));
}

}  // namespace saltus
