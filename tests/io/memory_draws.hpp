// Draws in memory, whose content is a formula, for tests of files.
#pragma once

#include <limits>
#include <utility>

#include "saltus/run/draws.hpp"

namespace saltus {

class MemoryDraws final : public Draws {
 public:
  MemoryDraws(DrawsInfo info, int chains, std::size_t draws)
      : info_(std::move(info)), chains_(chains), draws_(draws) {
    for (const int n : info_.shape) dim_ *= n;
  }

  // Every level occurs, and neighbours in any direction differ.
  Symbol state(int chain, std::size_t draw, int i) const {
    const std::size_t n =
        7 * static_cast<std::size_t>(chain) + 13 * draw + static_cast<std::size_t>(i);
    return static_cast<Symbol>(n % static_cast<std::size_t>(info_.levels));
  }
  double logp(int chain, std::size_t draw) const {
    if (chain == 0 && draw == 1) return std::numeric_limits<double>::quiet_NaN();
    if (chain == 0 && draw == 2) return -std::numeric_limits<double>::infinity();
    return -1.0 / 3.0 - 1e5 * chain - static_cast<double>(draw) / 7.0;
  }
  float acceptance(int chain, std::size_t draw) const {
    return 1.0F / static_cast<float>(2 + static_cast<std::size_t>(chain) + draw % 10);
  }

  const DrawsInfo& info() const override { return info_; }
  int chains() const override { return chains_; }
  std::size_t draws() const override { return draws_; }
  int dim() const override { return dim_; }
  void read_states(int chain, std::size_t first, Rows<Symbol> x) const override {
    for (int r = 0; r < x.rows; ++r) {
      for (int i = 0; i < dim_; ++i) x[r][i] = state(chain, first + static_cast<std::size_t>(r), i);
    }
  }
  void read_logp(int chain, std::size_t first, std::span<double> out) const override {
    for (std::size_t r = 0; r < out.size(); ++r) out[r] = logp(chain, first + r);
  }
  void read_acceptance(int chain, std::size_t first, std::span<float> out) const override {
    for (std::size_t r = 0; r < out.size(); ++r) out[r] = acceptance(chain, first + r);
  }

 private:
  DrawsInfo info_;
  int chains_, dim_ = 1;
  std::size_t draws_;
};

}  // namespace saltus
