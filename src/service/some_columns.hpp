// Some columns of draws that hold more, for summaries of a part of the coordinates.
#pragma once

#include <vector>

#include "saltus/run/draws.hpp"

namespace saltus {

class SomeColumns final : public Draws {
 public:
  // `all` must outlive it.
  SomeColumns(const Draws& all, std::vector<int> columns);
  const DrawsInfo& info() const override { return info_; }
  int chains() const override { return all_.chains(); }
  std::size_t draws() const override { return all_.draws(); }
  int dim() const override { return static_cast<int>(columns_.size()); }
  void read_states(int chain, std::size_t first, Rows<Symbol> x) const override;
  void read_logp(int chain, std::size_t first, std::span<double> out) const override {
    all_.read_logp(chain, first, out);
  }
  void read_acceptance(int chain, std::size_t first, std::span<float> out) const override {
    all_.read_acceptance(chain, first, out);
  }

 private:
  const Draws& all_;
  std::vector<int> columns_;
  DrawsInfo info_;
};

}  // namespace saltus
