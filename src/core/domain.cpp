#include "saltus/core/domain.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include "saltus/core/error.hpp"

namespace saltus {
namespace {

void check_levels(std::size_t coordinate, int levels, int least) {
  if (levels >= least && levels <= Domain::kMaxLevels) return;
  throw DataError("coordinate " + std::to_string(coordinate) + " has " + std::to_string(levels) +
                  " levels; it needs " + std::to_string(least) + " to " +
                  std::to_string(Domain::kMaxLevels));
}

void check_total(std::int64_t total) {
  if (total <= 0x7FFFFFFF) return;
  throw DataError("the level counts of all coordinates add up to " + std::to_string(total) +
                  "; at most 2147483647 are possible");
}

}  // namespace

Domain::Domain(Kind kind, int dim, int levels)
    : kind_(kind), dim_(dim), uniform_levels_(levels), max_levels_(levels) {
  if (dim < 1) {
    throw DataError("a domain needs at least one coordinate, not " + std::to_string(dim));
  }
  check_levels(0, levels, 2);
  if (kind == Kind::categorical) check_total(std::int64_t{dim} * levels);
}

Domain::Domain(Kind kind, std::vector<int> levels)
    : Domain(kind, static_cast<int>(levels.size()),
             levels.empty() ? 2 : *std::max_element(levels.begin(), levels.end())) {
  const int least = kind == Kind::categorical ? 1 : 2;
  for (std::size_t i = 0; i < levels.size(); ++i) check_levels(i, levels[i], least);
  if (std::all_of(levels.begin(), levels.end(), [&](int l) { return l == levels[0]; })) return;
  uniform_levels_ = 0;
  score_begin_.resize(levels.size() + 1);
  if (kind == Kind::categorical) {
    check_total(std::accumulate(levels.begin(), levels.end(), std::int64_t{0}));
    std::partial_sum(levels.begin(), levels.end(), score_begin_.begin() + 1);
  }
  levels_ = std::move(levels);
}

Domain Domain::binary(int dim) {
  return Domain(Kind::ordered, dim, 2);
}

Domain Domain::spin(int dim) {
  Domain d(Kind::ordered, dim, 2);
  d.first_value_ = -1;
  d.spacing_ = 2;
  return d;
}

Domain Domain::ordered(int dim, int levels) {
  return Domain(Kind::ordered, dim, levels);
}
Domain Domain::ordered(std::vector<int> levels) {
  return Domain(Kind::ordered, std::move(levels));
}
Domain Domain::categorical(int dim, int levels) {
  return Domain(Kind::categorical, dim, levels);
}
Domain Domain::categorical(std::vector<int> levels) {
  return Domain(Kind::categorical, std::move(levels));
}

Domain Domain::integers(int dim, int levels) {
  Domain d(Kind::ordered, dim, levels);
  d.unbounded_ = true;
  return d;
}

std::optional<std::uint64_t> Domain::states(std::uint64_t limit) const {
  std::uint64_t count = 1;
  for (int i = 0; i < dim_; ++i) {
    count *= static_cast<std::uint64_t>(levels(i));
    if (count > limit) return std::nullopt;
  }
  return count;
}

Domain Domain::truncated(int most) const {
  Domain d(kind_, dim_, std::min(max_levels_, most));
  if (!uniform_levels_) {
    std::vector<int> fewer = levels_;
    for (int& l : fewer) l = std::min(l, most);
    d = Domain(kind_, std::move(fewer));
  }
  d.first_value_ = first_value_;
  d.spacing_ = spacing_;
  d.unbounded_ = unbounded_;
  return d;
}

}  // namespace saltus
