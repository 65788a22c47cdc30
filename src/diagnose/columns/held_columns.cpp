#include "diagnose/columns/held_columns.hpp"

#include <algorithm>

#include "diagnose/columns/column_reader.hpp"

namespace saltus {

HeldColumns::HeldColumns(const Draws& draws, const std::vector<int>& columns)
    : length_(draws.draws()), chains_(draws.chains()) {
  levels_.resize(offset(static_cast<int>(columns.size()), 0));
  const ColumnReader reader(draws, columns);
  for (int chain = 0; chain < chains_; ++chain) {
    reader.read(chain, 0, length_, [&](std::size_t first, Rows<const Symbol> x) {
      for (int i = 0; i < x.rows; ++i) {
        std::copy_n(x[i], x.cols, &levels_[offset(i, chain) + first]);
      }
    });
  }
}

Chains HeldColumns::chains(int i) const {
  return {chains_, length_, [this, i](int chain, std::span<double> out) {
            std::copy_n(&levels_[offset(i, chain)], length_, out.begin());
          }};
}

}  // namespace saltus
