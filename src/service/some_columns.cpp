#include "service/some_columns.hpp"

namespace saltus {

SomeColumns::SomeColumns(const Draws& all, std::vector<int> columns)
    : all_(all), columns_(std::move(columns)), info_(all.info()) {
  if (info_.classes.size() < 2) return;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    info_.classes[c] = all.info().classes[static_cast<std::size_t>(columns_[c])];
  }
  info_.classes.resize(columns_.size());
}

void SomeColumns::read_states(int chain, std::size_t first, Rows<Symbol> x) const {
  const RowBuffer<Symbol> whole(1, all_.dim());
  for (int r = 0; r < x.rows; ++r) {
    all_.read_states(chain, first + static_cast<std::size_t>(r), whole.view());
    for (std::size_t c = 0; c < columns_.size(); ++c) x[r][c] = whole.view()[0][columns_[c]];
  }
}

}  // namespace saltus
