// Which coordinates of a model have known values, and where the others are: for whoever goes
// between states of a whole model and states of its free coordinates.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "saltus/core/domain.hpp"
#include "saltus/core/rows.hpp"

namespace saltus {

// The domain of these coordinates alone, in this order, one at least.
Domain restricted(const Domain& domain, std::span<const std::int32_t> coordinates);

// A coordinate and the index of its level.
using GivenValue = std::pair<int, int>;

class GivenValues {
 public:
  // Throws UsageError for a coordinate or a level that the domain does not have, and for a
  // coordinate that is there twice.
  GivenValues(Domain domain, std::vector<GivenValue> list);

  const Domain& domain() const { return domain_; }                 // of all coordinates
  const std::vector<GivenValue>& list() const { return list_; }    // by coordinate
  const std::vector<std::int32_t>& free() const { return free_; }  // in increasing order
  // True where a single state is left.
  bool fixes_all() const;
  // The place of a coordinate among the free ones; -1: it is given.
  int place(int coordinate) const { return place_[static_cast<std::size_t>(coordinate)]; }
  bool is_given(int coordinate) const { return place(coordinate) < 0; }
  Symbol value(int coordinate) const { return row_[static_cast<std::size_t>(coordinate)]; }

  // Between a row of the free coordinates and one of all. Given entries of `all` are not read.
  void scatter(const Symbol* some, Symbol* all) const;
  void gather(const Symbol* all, Symbol* some) const;
  std::vector<Symbol> whole(std::span<const Symbol> some) const;
  // An entry for each level of each free coordinate, from one for each level of all.
  std::vector<double> levels_gathered(std::span<const double> all) const;

  // "3=1,7=0"
  std::string text() const;

 private:
  Domain domain_;
  std::vector<GivenValue> list_;
  std::vector<std::int32_t> free_, place_;
  std::vector<Symbol> row_;  // of all coordinates; 0 where they are free
};

}  // namespace saltus
