// Some columns of the draws held in memory, for what cannot be computed as they pass by.
#pragma once

#include <cstddef>
#include <vector>

#include "saltus/core/rows.hpp"
#include "saltus/diagnose/chains.hpp"
#include "saltus/run/draws.hpp"

namespace saltus {

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
