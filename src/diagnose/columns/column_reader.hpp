// Some columns of the draws in blocks of bounded size, each column contiguous.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "saltus/core/rows.hpp"
#include "saltus/run/draws.hpp"

namespace saltus {

class ColumnReader {
 public:
  // Row i of x is column columns[i] of the draws `first`, `first` + 1, ...
  using Visitor = std::function<void(std::size_t first, Rows<const Symbol> x)>;

  ColumnReader(const Draws& draws, std::vector<int> columns);

  // Draws [first, first + count) of one chain, in order.
  void read(int chain, std::size_t first, std::size_t count, const Visitor& visit) const;
  // Draws that one visit shows.
  std::size_t at_once() const { return static_cast<std::size_t>(rows_.view().rows); }

 private:
  void transpose(Rows<const Symbol> from, Rows<Symbol> to) const;

  const Draws& draws_;
  std::vector<int> columns_;
  RowBuffer<Symbol> rows_, block_;
};

}  // namespace saltus
