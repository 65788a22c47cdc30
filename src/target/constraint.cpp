#include "saltus/target/constraint.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/log_gamma.hpp"
#include "saltus/core/error.hpp"

namespace saltus {
namespace {

std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}

double log_binomial(int n, int k) {
  return log_gamma(n + 1.0) - log_gamma(k + 1.0) - log_gamma(n - k + 1.0);
}

int ones_of(const Symbol* x, int begin, int end) {
  return static_cast<int>(std::count(x + begin, x + end, Symbol{1}));
}

int size_of(const Constraint::Group& g) {
  return g.last - g.first + 1;
}

std::string group_text(const Constraint::Group& g) {
  return g.first == g.last ? std::to_string(g.first) : fmt::format("{}-{}", g.first, g.last);
}

// Numbers from 0 to n - 1, uniform.
int below(double u, int n) {
  return std::min(static_cast<int>(u * n), n - 1);
}

}  // namespace

Constraint Constraint::sum(int dim, int low, int high) {
  Constraint c(Kind::sum, dim);
  c.low_ = low, c.high_ = high;
  if (low > high) throw UsageError("the constraint " + c.text() + " is an empty range");
  if (low < 0 || high > dim) {
    throw UsageError(fmt::format("the constraint {} asks for more than the {} coordinates can give",
                                 c.text(), dim));
  }
  if (low == high && (low == 0 || low == dim)) {
    throw UsageError(
        fmt::format("the constraint {} allows a single state of {} coordinates: "
                    "there is nothing to draw",
                    c.text(), dim));
  }
  return c;
}

Constraint Constraint::parity(int dim, bool odd) {
  Constraint c(Kind::parity, dim);
  c.low_ = c.high_ = odd ? 1 : 0;
  if (dim < 2) throw UsageError("the constraint " + c.text() + " allows a single state");
  return c;
}

Constraint Constraint::one_hot(int dim, std::vector<Group> groups) {
  Constraint c(Kind::one_hot, dim);
  std::ranges::sort(groups, {}, &Group::first);
  int next = 0, largest = 0;
  for (const Group& g : groups) {
    if (g.first < 0 || g.last < g.first || g.last >= dim) {
      throw UsageError(
          fmt::format("the group {} of the constraint one-hot is not a range of the "
                      "coordinates 0 to {}",
                      group_text(g), dim - 1));
    }
    if (g.first < next) {
      throw UsageError(
          fmt::format("the groups of the constraint one-hot overlap at coordinate {}", g.first));
    }
    for (; next < g.first; ++next) c.free_.push_back(next);
    next = g.last + 1;
    largest = std::max(largest, size_of(g));
  }
  for (; next < dim; ++next) c.free_.push_back(next);
  c.groups_ = std::move(groups);
  if (c.groups_.empty()) throw UsageError("the constraint one-hot names no group");
  if (largest == 1 && c.free_.empty()) {
    throw UsageError("the constraint " + c.text() + " allows a single state");
  }
  return c;
}

Constraint Constraint::given(std::span<const int> level) const {
  const int left = static_cast<int>(std::ranges::count(level, -1));
  const int ones = static_cast<int>(std::ranges::count(level, 1));
  if (left == 0) throw UsageError("all coordinates are given: there is nothing to draw");
  if (kind_ == Kind::parity) return parity(left, (ones + low_) % 2 == 1);
  if (kind_ == Kind::sum) {
    if (ones > high_) {
      throw UsageError(
          fmt::format("{} coordinates are given at their upper level, more than the "
                      "constraint {} allows",
                      ones, text()));
    }
    if (ones + left < low_) {
      throw UsageError(
          fmt::format("{} coordinates are given at their upper level and {} are left: "
                      "too few for the constraint {}",
                      ones, left, text()));
    }
    return sum(left, std::max(0, low_ - ones), std::min(left, high_ - ones));
  }
  std::vector<int> place;  // of each coordinate among those that are left
  int next = 0;
  for (const int l : level) place.push_back(l < 0 ? next++ : -1);
  std::vector<Group> groups;
  for (const Group& g : groups_) {
    std::vector<int> members;
    int held = 0;
    for (int i = g.first; i <= g.last; ++i) {
      held += level[at(i)] == 1;
      if (level[at(i)] < 0) members.push_back(place[at(i)]);
    }
    if (held > 1 || (held == 0 && members.empty())) {
      throw UsageError(fmt::format("what is given breaks the constraint one-hot in the group {}",
                                   group_text(g)));
    }
    if (held == 1 && !members.empty()) {
      throw UsageError(
          fmt::format("the group {} of the constraint one-hot is decided by what is "
                      "given: give its other coordinates level 0, too",
                      group_text(g)));
    }
    if (!members.empty()) groups.push_back({members.front(), members.back()});
  }
  return one_hot(left, std::move(groups));
}

std::string Constraint::text() const {
  if (kind_ == Kind::parity) return odd() ? "parity=odd" : "parity=even";
  if (kind_ == Kind::sum) {
    return low_ == high_ ? fmt::format("sum={}", low_) : fmt::format("sum={}..{}", low_, high_);
  }
  std::string list;
  for (const Group& g : groups_) list += (list.empty() ? "" : ",") + group_text(g);
  return "one-hot=" + list;
}

bool Constraint::allows(const Symbol* x) const {
  return violation(x).empty();
}

bool Constraint::allows_ones(int ones) const {
  return kind_ == Kind::parity ? ones % 2 == low_ : ones >= low_ && ones <= high_;
}

Constraint::Group Constraint::partners(int i) const {
  if (kind_ != Kind::one_hot) return {0, dim_ - 1};
  const auto after = std::ranges::upper_bound(groups_, i, {}, &Group::first);
  if (after == groups_.begin() || (after - 1)->last < i) return {i, i};
  return *(after - 1);
}

std::string Constraint::violation(const Symbol* x) const {
  const int ones = ones_of(x, 0, dim_);
  if (kind_ == Kind::parity) {
    if (allows_ones(ones)) return {};
    return fmt::format("has {} coordinates at their upper level, which is not an {} number", ones,
                       odd() ? "odd" : "even");
  }
  if (kind_ == Kind::sum) {
    if (allows_ones(ones)) return {};
    return fmt::format("has {} coordinates at their upper level, not {}", ones,
                       low_ == high_ ? std::to_string(low_) : fmt::format("{} to {}", low_, high_));
  }
  for (const Group& g : groups_) {
    const int here = ones_of(x, g.first, g.last + 1);
    if (here == 1) continue;
    return fmt::format("has {} coordinates of the group {} at their upper level, not one", here,
                       group_text(g));
  }
  return {};
}

double Constraint::log_count() const {
  constexpr double log2 = std::numbers::ln2;
  if (kind_ == Kind::parity) return (dim_ - 1) * log2;
  if (kind_ == Kind::one_hot) {
    double sum = static_cast<double>(free_.size()) * log2;
    for (const Group& g : groups_) sum += std::log(size_of(g));
    return sum;
  }
  double top = -INFINITY, sum = 0;
  for (int k = low_; k <= high_; ++k) top = std::max(top, log_binomial(dim_, k));
  for (int k = low_; k <= high_; ++k) sum += std::exp(log_binomial(dim_, k) - top);
  return top + std::log(sum);
}

std::optional<std::uint64_t> Constraint::count(std::uint64_t limit) const {
  const double log = log_count();
  if (log > std::log(static_cast<double>(limit)) + 1e-6) return std::nullopt;
  const auto number = static_cast<std::uint64_t>(std::llround(std::exp(log)));
  return number <= limit ? std::optional(number) : std::nullopt;
}

// Writes the coordinates from `begin` on so that the state is allowed and comes first. False where
// the coordinates before leave none.
bool Constraint::complete(Symbol* x, int begin) const {
  std::fill(x + begin, x + dim_, Symbol{0});
  if (kind_ == Kind::one_hot) {
    for (const Group& g : groups_) {
      const int ones = ones_of(x, g.first, g.last + 1);
      if (ones > 1 || (ones == 0 && g.last < begin)) return false;
      if (ones == 0) x[g.last] = 1;
    }
    return true;
  }
  const int ones = ones_of(x, 0, begin), left = dim_ - begin;
  int more = std::max(0, low_ - ones);
  if (kind_ == Kind::parity) {
    more = (ones + low_) % 2;
  } else if (ones > high_) {
    return false;
  }
  if (more > left) return false;
  std::fill(x + dim_ - more, x + dim_, Symbol{1});
  return true;
}

bool Constraint::next(Symbol* x) const {
  for (int i = dim_ - 1; i >= 0; --i) {
    if (x[i] == 1) continue;
    x[i] = 1;
    if (complete(x, i + 1)) return true;
    x[i] = 0;
  }
  return false;
}

void Constraint::draw(const Stream& stream, Symbol* x) const {
  std::uint32_t number = 0;
  const auto uniform = [&] { return stream.uniform(number++); };
  if (kind_ == Kind::one_hot) {
    std::fill_n(x, dim_, Symbol{0});
    for (const Group& g : groups_) x[g.first + below(uniform(), size_of(g))] = 1;
    for (const std::int32_t i : free_) x[i] = uniform() < 0.5 ? 0 : 1;
    return;
  }
  if (kind_ == Kind::parity) {
    for (int i = 0; i + 1 < dim_; ++i) x[i] = uniform() < 0.5 ? 0 : 1;
    x[dim_ - 1] = static_cast<Symbol>((ones_of(x, 0, dim_ - 1) + low_) % 2);
    return;
  }
  int k = low_;
  if (low_ < high_) {
    const double total = log_count();
    double left = uniform();
    while (k < high_ && (left -= std::exp(log_binomial(dim_, k) - total)) >= 0) ++k;
  }
  for (int i = 0; i < dim_; ++i) {  // selection sampling: Knuth, volume 2, algorithm 3.4.2 S
    x[i] = uniform() * (dim_ - i) < k ? 1 : 0;
    k -= x[i];
  }
}

}  // namespace saltus
