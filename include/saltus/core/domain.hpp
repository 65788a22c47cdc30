// Domain: the set of states, a product of d finite (or windowed infinite) sets of levels.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "saltus/core/rows.hpp"

namespace saltus {

class Domain {
 public:
  enum class Kind {
    ordered,      // levels are equally spaced numbers; one score per coordinate
    categorical,  // levels are unordered (one-hot); one score per coordinate and level
  };

  static constexpr int kMaxLevels = 65536;  // what a Symbol can hold

  static Domain binary(int dim);                   // {0, 1}^d
  static Domain spin(int dim);                     // {-1, +1}^d, index 0 is -1
  static Domain ordered(int dim, int levels);      // {0, ..., S-1}^d
  static Domain ordered(std::vector<int> levels);  // a level count for each coordinate
  static Domain categorical(int dim, int levels);  // one-hot
  // Some coordinates, but not all, may have a single level: they never change.
  static Domain categorical(std::vector<int> levels);
  static Domain integers(int dim, int levels = kMaxLevels);  // 0, 1, 2, ...: needs a window

  int dim() const { return dim_; }
  Kind kind() const { return kind_; }
  int levels(int i) const { return uniform_levels_ ? uniform_levels_ : levels_[index(i)]; }
  int max_levels() const { return max_levels_; }
  // The level count that all coordinates share, or 0 when they differ.
  int uniform_levels() const { return uniform_levels_; }
  // Every coordinate is ordered and has two levels: the fast path.
  bool two_level() const { return kind_ == Kind::ordered && uniform_levels_ == 2; }
  // Some coordinate has more than two levels without an order: means of indices say nothing.
  bool unordered() const { return kind_ == Kind::categorical && max_levels_ > 2; }
  // Conceptually infinite: a proposal over all levels makes no sense.
  bool unbounded() const { return unbounded_; }

  // The number that level k of an ordered coordinate stands for: first + spacing * k.
  // A categorical level has no number of its own; its index is used.
  double value(int k) const { return first_value_ + spacing_ * k; }
  double first_value() const { return first_value_; }
  double spacing() const { return spacing_; }

  // Where coordinate i's scores begin in a row of scores, and how long such a row is.
  int score_begin(int i) const {
    if (kind_ == Kind::ordered) return i;
    return uniform_levels_ ? i * uniform_levels_ : score_begin_[index(i)];
  }
  int score_size() const { return score_begin(dim_); }

  // The number of states, or nothing when it exceeds `limit`.
  std::optional<std::uint64_t> states(std::uint64_t limit) const;

  // The same domain with no more than `levels` levels per coordinate, for exact work on an
  // unbounded one.
  Domain truncated(int levels) const;

 private:
  Domain(Kind kind, int dim, int levels);
  Domain(Kind kind, std::vector<int> levels);
  static std::size_t index(int i) { return static_cast<std::size_t>(i); }

  Kind kind_ = Kind::ordered;
  int dim_ = 0;
  int uniform_levels_ = 0;  // the common level count, or 0 when coordinates differ
  int max_levels_ = 0;
  std::vector<int> levels_, score_begin_;  // empty when uniform
  double first_value_ = 0, spacing_ = 1;
  bool unbounded_ = false;
};

}  // namespace saltus
