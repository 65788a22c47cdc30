#include "diagnose/columns/passing_column.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "diagnose/columns/lag_sums.hpp"
#include "diagnose/columns/passing_lag_sums.hpp"
#include "diagnose/columns/ranks.hpp"

namespace saltus {
namespace {

constexpr std::size_t kFirstLags = 64;

}  // namespace

PassingColumn::PassingColumn(int chains, std::size_t draws, std::size_t levels, bool tails)
    : length_(draws / 2), tails_(tails), counts_(2 * chains, levels) {
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
  if (!counted_ && length_ > 1) ask();
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
  constexpr std::size_t kBuffers = std::size_t{12} << 10;
  std::size_t bytes = 0;
  for (const Question& q : questions_) {
    if (q.open()) bytes += kBuffers + 3 * sizeof(double) * q.next_lags();
  }
  return bytes;
}

void PassingColumn::ask() {
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

std::size_t PassingColumn::ask_function(std::vector<double> value) {
  std::vector<double> means = half_moments(counts_, value).means;
  auto sums = std::make_unique<PassingScoreSums>(length_, value, std::move(means));
  questions_.push_back({std::nullopt, std::move(value), std::move(sums)});
  return questions_.size() - 1;
}

std::size_t PassingColumn::ask_indicator(Symbol threshold) {
  const auto same = std::find_if(questions_.begin(), questions_.end(),
                                 [&](const Question& q) { return q.threshold == threshold; });
  if (same != questions_.end()) return static_cast<std::size_t>(same - questions_.begin());
  std::vector<double> value(counts_.levels());
  std::fill_n(value.begin(), std::size_t{threshold} + 1, 1.0);
  auto sums = std::make_unique<PassingBitSums>(length_, threshold);
  questions_.push_back({threshold, std::move(value), std::move(sums)});
  return questions_.size() - 1;
}

double PassingColumn::answer(std::optional<std::size_t> question) const {
  return question ? *questions_[*question].ess : kNaN;
}

double PassingColumn::ess_tail() const {
  // fmin leaves out a NaN: an indicator that is the same in every draw.
  return std::fmin(answer(low_), answer(high_));
}

}  // namespace saltus
