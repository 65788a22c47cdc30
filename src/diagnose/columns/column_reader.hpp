// Some columns of the draws, each contiguous: in blocks of bounded size, or whole.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "saltus/core/rows.hpp"
#include "saltus/diagnose/chains.hpp"
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

// Some columns held in memory, for what cannot be computed as they pass by.
class HeldColumns {
 public:
  HeldColumns(const Draws& draws, const std::vector<int>& columns);

  // Column i of the list as chains of level indices; refers to this object.
  Chains chains(int i) const;

 private:
  std::size_t offset(int i, int chain) const {
    const auto row = static_cast<std::size_t>(i) * static_cast<std::size_t>(chains_) +
                     static_cast<std::size_t>(chain);
    return row * length_;
  }

  std::size_t length_;
  int chains_;
  std::vector<Symbol> levels_;  // by column, chain and draw
};

}  // namespace saltus
