// Heat-bath sweeps of spins with small whole couplings: the specification.
#include "ops/ops.hpp"
#include "ops/passes.hpp"

namespace saltus::ops::scalar {
namespace {

bool unlikely_drawn(uint64_t threshold, const Stream& stream, uint32_t update) {
  const uint32_t word = stream.block(update / 16)[update % 16 / 4];
  const uint32_t byte = word >> (8 * (update % 4)) & 0xFF;
  const auto upper = static_cast<uint32_t>(threshold >> 32);
  if (byte != upper) return byte < upper;
  return stream.block(kRefineBlocks + update / 4)[update % 4] < static_cast<uint32_t>(threshold);
}

}  // namespace

void gibbs_spins(const SpinGraph& graph, const SpinOdds& odds, int8_t* spins, const int32_t* order,
                 int count, const Stream& first, int32_t* gain) {
  for (int c = 0; c < kSpinChains; ++c) {
    Stream stream = first;
    stream.chain += static_cast<uint32_t>(c);
    int8_t* chain = spins + spin_lane(c);
    for (int t = 0; t < count; ++t) {
      const int32_t i = order[t];
      int f = graph.field[i];
      for (int64_t e = graph.begin[i]; e < graph.begin[i + 1]; ++e) {
        const int s = chain[graph.offset[e]];
        f += e < graph.minus[i] ? s : -s;
      }
      const bool unlikely =
          unlikely_drawn(odds.unlikely[f < 0 ? -f : f], stream, static_cast<uint32_t>(t));
      const int drawn = unlikely != (f >= 0) ? 1 : -1;
      int8_t& spin = chain[int64_t{i} * kSpinChains];
      if (drawn != spin) gain[c] += drawn * f;
      spin = static_cast<int8_t>(drawn);
    }
  }
}

}  // namespace saltus::ops::scalar
