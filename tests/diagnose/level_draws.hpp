// Draws in memory, given column by column as series of levels.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "saltus/run/draws.hpp"
#include "series.hpp"

namespace saltus {

class LevelDraws final : public Draws {
 public:
  LevelDraws(std::vector<Series> columns, int levels) : columns_(std::move(columns)) {
    info_.levels = levels;
    info_.first_value = -1;
    info_.spacing = 2;
  }

  // The same draws of levels without an order.
  LevelDraws& unordered(std::vector<int> classes) {
    info_.classes = std::move(classes);
    return *this;
  }

  // The indicator of a level of column c.
  Chains indicator(int c, int level) const {
    Series series = columns_[static_cast<std::size_t>(c)];
    for (auto& chain : series) {
      for (double& x : chain) x = x == level ? 1 : 0;
    }
    return chains_of(series);
  }

  // Column c in values, for the diagnostics of plain chains.
  Chains values(int c) const {
    Series series = columns_[static_cast<std::size_t>(c)];
    for (auto& chain : series) {
      for (double& x : chain) x = info_.first_value + info_.spacing * x;
    }
    return chains_of(series);
  }

  const DrawsInfo& info() const override { return info_; }
  int chains() const override { return static_cast<int>(columns_[0].size()); }
  std::size_t draws() const override { return columns_[0][0].size(); }
  int dim() const override { return static_cast<int>(columns_.size()); }
  void read_states(int chain, std::size_t first, Rows<Symbol> x) const override {
    for (int r = 0; r < x.rows; ++r) {
      for (int c = 0; c < dim(); ++c) {
        const Series& series = columns_[static_cast<std::size_t>(c)];
        x[r][c] = static_cast<Symbol>(
            series[static_cast<std::size_t>(chain)].at(first + static_cast<std::size_t>(r)));
      }
    }
  }
  void read_logp(int, std::size_t, std::span<double>) const override {}
  void read_acceptance(int, std::size_t, std::span<float>) const override {}

 private:
  DrawsInfo info_;
  std::vector<Series> columns_;
};

}  // namespace saltus
