#include "diagnose/columns/column_reader.hpp"

#include <algorithm>
#include <utility>

namespace saltus {
namespace {

constexpr std::size_t kBlockEntries = std::size_t{1} << 18;
constexpr int kLine = 32;  // entries: a row takes a cache line at least

int rows_at_once(const Draws& draws) {
  const std::size_t rows = kBlockEntries / static_cast<std::size_t>(std::max(kLine, draws.dim()));
  return static_cast<int>(
      std::clamp<std::size_t>(rows, 1, std::max<std::size_t>(1, draws.draws())));
}

}  // namespace

ColumnReader::ColumnReader(const Draws& draws, std::vector<int> columns)
    : draws_(draws),
      columns_(std::move(columns)),
      rows_(rows_at_once(draws), draws.dim()),
      block_(static_cast<int>(columns_.size()), rows_at_once(draws)) {}

void ColumnReader::read(int chain, std::size_t first, std::size_t count,
                        const Visitor& visit) const {
  const std::size_t most = static_cast<std::size_t>(rows_.view().rows);
  for (std::size_t done = 0; done < count;) {
    Rows<Symbol> rows = rows_.view(), block = block_.view();
    rows.rows = block.cols = static_cast<int>(std::min(most, count - done));
    draws_.read_states(chain, first + done, rows);
    transpose(rows, block);
    visit(first + done, block);
    done += static_cast<std::size_t>(rows.rows);
  }
}

void ColumnReader::transpose(Rows<const Symbol> from, Rows<Symbol> to) const {
  constexpr int kTile = 64;  // rows, which stay in the nearest cache
  for (int start = 0; start < from.rows; start += kTile) {
    const int stop = std::min(from.rows, start + kTile);
    for (int i = 0; i < to.rows; ++i) {
      const Symbol* in = from[start] + columns_[static_cast<std::size_t>(i)];
      Symbol* out = to[i];
      for (int r = start; r < stop; ++r, in += from.stride) out[r] = *in;
    }
  }
}

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
