// The draw with the largest log p, found while a run makes its draws.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "saltus/run/recorder.hpp"

namespace saltus {

struct BestDraw {
  double logp = 0;
  int chain = 0;
  std::uint64_t draw = 0;
  std::vector<Symbol> state;
};

class BestSoFar final : public Recorder {
 public:
  BestSoFar(int dim, int chains);

  void record(const Tile& tile, std::span<const StepInfo> info, std::uint64_t draw) override;
  bool wants_logp() const override { return true; }
  void merge(const Recorder& other) override;
  void save(ByteWriter& out) const override;
  void restore(ByteReader& in) override;

  // The earliest one of the first chain, where several are equal; nothing before the first draw.
  std::optional<BestDraw> best() const;

 private:
  struct Chain {
    std::uint64_t draws = 0, draw = 0;  // made; the number of the best one
    double logp;
    std::vector<Symbol> state;
  };
  std::size_t dim_;
  std::vector<Chain> chains_;
};

}  // namespace saltus
