// Heat-bath sweeps of spins with small whole couplings: the specification.
#include "ops/ops.hpp"
#include "ops/passes.hpp"

namespace saltus::ops::scalar {
namespace {

// One chain: a bit of one of the words of each site.
class Chain {
 public:
  Chain(const SpinGraph& graph, uint64_t* spins, int c, const Stream& first)
      : graph_(graph),
        word_(spins + c / kSpinChains),
        bit_(spin_lane(c % kSpinChains)),
        stream_(first) {
    stream_.chain += static_cast<uint32_t>(c);
  }

  // What log p gains, in units of twice the coupling's.
  int update(const SpinOdds& odds, int32_t i, uint32_t t) {
    if (t % kRefineRun == 0) undecided_ = 0;
    const int f = field(graph_.site[i]);
    const bool unlikely = unlikely_drawn(odds.unlikely[f < 0 ? -f : f], t);
    const bool up = unlikely != (f >= 0), before = at(static_cast<uint32_t>(i * graph_.words));
    if (up == before) return 0;
    word_[int64_t{i} * graph_.words] ^= uint64_t{1} << bit_;
    return up ? f : -f;
  }

 private:
  bool at(uint32_t place) const { return word_[place] >> bit_ & 1; }

  int field(const SpinSite& site) const {
    const uint32_t* entry = graph_.entries(site);
    int f = site.base;
    for (int e = 0; e < kSpinBlock * site.plus; ++e) f += 2 * at(*entry++);
    for (int e = 0; e < kSpinBlock * site.minus; ++e) f += 2 * !at(*entry++);
    return f;
  }

  bool unlikely_drawn(uint64_t threshold, uint32_t t) {
    const uint32_t byte = stream_.block(t / 16)[t % 16 / 4] >> (8 * (t % 4)) & 0xFF;
    const auto upper = static_cast<uint32_t>(threshold >> 32);
    if (byte != upper) return byte < upper;
    const uint32_t w = refine_word(t, undecided_++);
    return stream_.block(kRefineBlocks + w / 4)[w % 4] < static_cast<uint32_t>(threshold);
  }

  const SpinGraph& graph_;
  uint64_t* word_;
  int bit_;
  Stream stream_;
  uint32_t undecided_ = 0;
};

}  // namespace

void gibbs_spins(const SpinGraph& graph, const SpinOdds& odds, uint64_t* spins,
                 const int32_t* order, int count, const Stream& first, int groups, int32_t* gain) {
  for (int c = 0; c < groups * kSpinChains; ++c) {
    Chain chain(graph, spins, c, first);
    for (int t = 0; t < count; ++t)
      gain[c] += chain.update(odds, order[t], static_cast<uint32_t>(t));
  }
}

}  // namespace saltus::ops::scalar
