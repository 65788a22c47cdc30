#include "saltus/run/best_draw.hpp"

#include <algorithm>
#include <limits>

namespace saltus {

BestSoFar::BestSoFar(int dim, int chains)
    : dim_(static_cast<std::size_t>(dim)),
      chains_(static_cast<std::size_t>(chains),
              {0, 0, -std::numeric_limits<double>::infinity(), std::vector<Symbol>(dim_)}) {}

void BestSoFar::record(const Tile& tile, std::span<const StepInfo>, std::uint64_t) {
  for (int r = 0; r < tile.rows(); ++r) {
    Chain& c = chains_[tile.first_slot + static_cast<std::size_t>(r)];
    if (tile.logp[r] > c.logp) {
      c.logp = tile.logp[r];
      c.draw = c.draws;
      std::copy_n(tile.x[r], dim_, c.state.begin());
    }
    ++c.draws;
  }
}

std::optional<BestDraw> BestSoFar::best() const {
  const auto top = std::ranges::max_element(chains_, {}, &Chain::logp);
  if (top == chains_.end() || top->logp == -std::numeric_limits<double>::infinity()) {
    return std::nullopt;
  }
  return BestDraw{top->logp, static_cast<int>(top - chains_.begin()), top->draw, top->state};
}

void BestSoFar::merge(const Recorder& other) {
  const auto* from = dynamic_cast<const BestSoFar*>(&other);
  if (!from || from->dim_ != dim_) return Recorder::merge(other);
  chains_.insert(chains_.end(), from->chains_.begin(), from->chains_.end());
}

void BestSoFar::save(ByteWriter& out) const {
  out.begin_units();
  for (const Chain& c : chains_) {
    out.put(c.draws, c.draw, c.logp);
    out.put_array(std::span<const Symbol>(c.state));
    out.end_unit();
  }
  out.end_units();
}

void BestSoFar::restore(ByteReader& in) {
  ByteReader chains = in.units(chains_.size());
  for (Chain& c : chains_) {
    chains.get(c.draws, c.draw, c.logp);
    chains.get_array(std::span<Symbol>(c.state));
  }
}

}  // namespace saltus
