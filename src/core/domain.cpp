#include "saltus/core/domain.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include "saltus/core/error.hpp"

namespace saltus {
namespace {

std::vector<int> same(int dim, int levels) {
  if (dim < 1)
    throw DataError("a domain needs at least one coordinate, not " + std::to_string(dim));
  return std::vector<int>(static_cast<std::size_t>(dim), levels);
}

}  // namespace

Domain::Domain(Kind kind, std::vector<int> levels)
    : kind_(kind), dim_(static_cast<int>(levels.size())) {
  if (levels.empty()) throw DataError("a domain needs at least one coordinate");
  for (std::size_t i = 0; i < levels.size(); ++i) {
    if (levels[i] < 2 || levels[i] > kMaxLevels) {
      throw DataError("coordinate " + std::to_string(i) + " has " + std::to_string(levels[i]) +
                      " levels; it needs 2 to " + std::to_string(kMaxLevels));
    }
  }
  max_levels_ = *std::max_element(levels.begin(), levels.end());
  const std::int64_t total = std::accumulate(levels.begin(), levels.end(), std::int64_t{0});
  if (kind == Kind::categorical && total > 0x7FFFFFFF) {
    throw DataError("the level counts of all coordinates add up to " + std::to_string(total) +
                    "; at most 2147483647 are possible");
  }
  if (std::all_of(levels.begin(), levels.end(), [&](int l) { return l == levels[0]; })) {
    uniform_levels_ = levels[0];
    return;
  }
  score_begin_.resize(levels.size() + 1);
  if (kind == Kind::categorical) {
    std::partial_sum(levels.begin(), levels.end(), score_begin_.begin() + 1);
  }
  levels_ = std::move(levels);
}

Domain Domain::binary(int dim) {
  return Domain(Kind::ordered, same(dim, 2));
}

Domain Domain::spin(int dim) {
  Domain d(Kind::ordered, same(dim, 2));
  d.first_value_ = -1;
  d.spacing_ = 2;
  return d;
}

Domain Domain::ordered(int dim, int levels) {
  return Domain(Kind::ordered, same(dim, levels));
}
Domain Domain::ordered(std::vector<int> levels) {
  return Domain(Kind::ordered, std::move(levels));
}
Domain Domain::categorical(int dim, int levels) {
  return Domain(Kind::categorical, same(dim, levels));
}
Domain Domain::categorical(std::vector<int> levels) {
  return Domain(Kind::categorical, std::move(levels));
}

Domain Domain::integers(int dim, int levels) {
  Domain d(Kind::ordered, same(dim, levels));
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
  std::vector<int> fewer(static_cast<std::size_t>(dim_));
  for (int i = 0; i < dim_; ++i) fewer[index(i)] = std::min(levels(i), most);
  Domain d(kind_, std::move(fewer));
  d.first_value_ = first_value_;
  d.spacing_ = spacing_;
  d.unbounded_ = unbounded_;
  return d;
}

}  // namespace saltus
