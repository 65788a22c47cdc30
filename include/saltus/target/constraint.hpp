// A hard constraint on two-level coordinates: a model under one is the model restricted to the
// states that the constraint allows. Constrained (constrained.hpp) is such a target.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "saltus/core/philox.hpp"
#include "saltus/core/rows.hpp"

namespace saltus {

class Constraint {
 public:
  enum class Kind {
    sum,      // from `low` to `high` coordinates have their upper level
    parity,   // an even or an odd number of them has
    one_hot,  // in each group exactly one has; coordinates outside all groups are free
  };
  struct Group {
    int first, last;  // both belong to it
    bool operator==(const Group&) const = default;
  };

  // All throw UsageError for a constraint that no state keeps, or a single one.
  static Constraint sum(int dim, int low, int high);
  static Constraint parity(int dim, bool odd);
  static Constraint one_hot(int dim, std::vector<Group> groups);
  // "sum=3", "sum=2..4", "parity=even", "parity=odd", "one-hot=0-3,4-7".
  static Constraint parse(const std::string& text, int dim);

  // What is left of it for the coordinates without a level, in their order, where the others are
  // held: level[i] is 0 or 1, or -1 for a coordinate without one.
  Constraint given(std::span<const int> level) const;

  Kind kind() const { return kind_; }
  int dim() const { return dim_; }
  int low() const { return low_; }
  int high() const { return high_; }
  bool fixed_sum() const { return kind_ == Kind::sum && low_ == high_; }
  bool odd() const { return low_ == 1; }                           // of parity
  const std::vector<Group>& groups() const { return groups_; }     // in increasing order
  const std::vector<std::int32_t>& free() const { return free_; }  // coordinates outside of them
  std::string text() const;                                        // as `parse` reads it

  bool allows(const Symbol* x) const;
  // Whether a sum or a parity allows so many coordinates to be at their upper level.
  bool allows_ones(int ones) const;
  // Coordinate i and those that may change together with it, in pairs. These are all coordinates;
  // under one-hot they are the group of i, or i alone where no group has it.
  Group partners(int i) const;
  // Why it does not allow a state: "has 3 coordinates at their upper level, not 4".
  std::string violation(const Symbol* x) const;

  // Of the allowed states: log of their number, and the number itself where it is not above the
  // limit.
  double log_count() const;
  std::optional<std::uint64_t> count(std::uint64_t limit) const;
  // The first one in lexicographic order, and the one after x: false after the last.
  void first(Symbol* x) const { complete(x, 0); }
  bool next(Symbol* x) const;
  // One of them, all equally likely.
  void draw(const Stream& stream, Symbol* x) const;

 private:
  Constraint(Kind kind, int dim) : kind_(kind), dim_(dim) {}
  bool complete(Symbol* x, int begin) const;

  Kind kind_;
  int dim_;
  int low_ = 0, high_ = 0;  // of parity: both 0 or both 1
  std::vector<Group> groups_;
  std::vector<std::int32_t> free_;
};

}  // namespace saltus
