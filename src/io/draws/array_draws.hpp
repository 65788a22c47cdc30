// Draws kept as arrays in files: chains x draws x dim indices and chains x draws numbers.
#pragma once

#include <optional>

#include "io/bytes/npy.hpp"
#include "saltus/run/draws.hpp"

namespace saltus {

class ArrayDraws final : public Draws {
 public:
  // x has 3 dimensions, or 2 for the draws of one chain; logp and acceptance have those of x but
  // the last. Reads x once to find the number of levels. Throws DataError when the arrays do not
  // fit.
  ArrayDraws(DrawsInfo info, NpyArray x, std::optional<NpyArray> logp,
             std::optional<NpyArray> acceptance);

  const DrawsInfo& info() const override { return info_; }
  int chains() const override { return chains_; }
  std::size_t draws() const override { return draws_; }
  int dim() const override { return dim_; }
  void read_states(int chain, std::size_t first, Rows<Symbol> x) const override;
  void read_logp(int chain, std::size_t first, std::span<double> out) const override;
  void read_acceptance(int chain, std::size_t first, std::span<float> out) const override;

 private:
  std::uint64_t index(int chain, std::size_t draw) const {
    return static_cast<std::uint64_t>(chain) * draws_ + draw;
  }
  void take_shape();
  void check_shape(const NpyArray& array) const;
  int count_levels() const;

  DrawsInfo info_;
  NpyArray x_;
  std::optional<NpyArray> logp_, acceptance_;
  int chains_ = 0, dim_ = 0;
  std::size_t draws_ = 0;
};

}  // namespace saltus
