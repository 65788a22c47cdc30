#include "saltus/target/given_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "saltus/core/error.hpp"

namespace saltus {
namespace {

std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}

void check(const Domain& domain, const GivenValue& given) {
  const auto [i, level] = given;
  if (i < 0 || i >= domain.dim()) {
    throw UsageError(
        fmt::format("coordinate {} is given, but they count from 0 to {}", i, domain.dim() - 1));
  }
  if (level < 0 || level >= domain.levels(i)) {
    throw UsageError(fmt::format("coordinate {} is given level {}, but its levels are 0 to {}", i,
                                 level, domain.levels(i) - 1));
  }
}

}  // namespace

Domain restricted(const Domain& domain, std::span<const std::int32_t> coordinates) {
  const int dim = static_cast<int>(coordinates.size());
  if (domain.unbounded()) return Domain::integers(dim, domain.max_levels());
  if (domain.kind() == Domain::Kind::ordered && domain.first_value() < 0) return Domain::spin(dim);
  std::vector<int> levels;
  for (const std::int32_t i : coordinates) levels.push_back(domain.levels(i));
  return domain.kind() == Domain::Kind::ordered ? Domain::ordered(std::move(levels))
                                                : Domain::categorical(std::move(levels));
}

GivenValues::GivenValues(Domain domain, std::vector<GivenValue> list)
    : domain_(std::move(domain)),
      list_(std::move(list)),
      place_(at(domain_.dim())),
      row_(at(domain_.dim())) {
  std::sort(list_.begin(), list_.end());
  for (std::size_t k = 0; k < list_.size(); ++k) {
    check(domain_, list_[k]);
    const int i = list_[k].first;
    if (k > 0 && list_[k - 1].first == i) {
      throw UsageError(fmt::format("coordinate {} is given twice", i));
    }
    place_[at(i)] = -1;
    row_[at(i)] = static_cast<Symbol>(list_[k].second);
  }
  for (int i = 0; i < domain_.dim(); ++i) {
    if (is_given(i)) continue;
    place_[at(i)] = static_cast<std::int32_t>(free_.size());
    free_.push_back(i);
  }
}

bool GivenValues::fixes_all() const {
  return std::ranges::all_of(free_, [this](std::int32_t i) { return domain_.levels(i) == 1; });
}

void GivenValues::scatter(const Symbol* some, Symbol* all) const {
  std::copy(row_.begin(), row_.end(), all);
  for (std::size_t k = 0; k < free_.size(); ++k) all[free_[k]] = some[k];
}

void GivenValues::gather(const Symbol* all, Symbol* some) const {
  for (std::size_t k = 0; k < free_.size(); ++k) some[k] = all[free_[k]];
}

std::vector<Symbol> GivenValues::whole(std::span<const Symbol> some) const {
  std::vector<Symbol> all(row_.size());
  scatter(some.data(), all.data());
  return all;
}

std::vector<double> GivenValues::levels_gathered(std::span<const double> all) const {
  std::vector<double> some;
  std::size_t begin = 0;
  for (int i = 0; i < domain_.dim(); ++i) {
    const auto levels = all.subspan(begin, at(domain_.levels(i)));
    if (!is_given(i)) some.insert(some.end(), levels.begin(), levels.end());
    begin += levels.size();
  }
  return some;
}

std::string GivenValues::text() const {
  std::string text;
  for (const auto& [i, level] : list_) {
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", i, level);
  }
  return text;
}

}  // namespace saltus
