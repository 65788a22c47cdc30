// Steps of DULA and DMALA on an Ising lattice. Random numbers, and what they decide, are those of
// the host's samplers.
#pragma once

#include <cmath>

#include "cuda/lattice/steps.hpp"

namespace saltus::cuda {

// The largest integer that is not above log u, in units of 1 / scale: log u < r holds exactly when
// that integer is below the integer r.
inline SALTUS_BOTH std::int64_t scaled_log(double u, double scale) {
  return static_cast<std::int64_t>(std::floor(std::log(u) * scale));
}
inline SALTUS_BOTH std::int64_t scaled_acceptance(std::int64_t log_r, double scale) {
  const double r = log_r < 0 ? std::exp(static_cast<double>(log_r) / scale) : 1.0;
  return static_cast<std::int64_t>(std::rint(r * kAcceptanceUnit));
}

// The numbers of the Metropolis tests of one warp, for as many steps at a time as it has lanes: log
// u for those to come, and acceptance probabilities of those that were made, which lane k remembers
// of step k of them.
class Tests {
 public:
  SALTUS_BOTH explicit Tests(double scale) : scale_(scale) {}
  // log u of step `offset`.
  SALTUS_BOTH std::int64_t draw(const LatticeSteps& steps, int chain, std::uint32_t offset) const {
    return scaled_log(steps.stream(chain, offset, Purpose::accept).uniform(), scale_);
  }
  SALTUS_BOTH void remember(bool mine, std::int64_t log_r) {
    if (mine) log_r_ = log_r, waiting_ = true;
  }
  SALTUS_BOTH void add_up() {
    if (waiting_) acceptance_ += scaled_acceptance(log_r_, scale_);
    waiting_ = false;
  }
  // Of this lane, since the last call.
  SALTUS_BOTH std::int64_t take() {
    add_up();
    const std::int64_t sum = acceptance_;
    acceptance_ = 0;
    return sum;
  }

 private:
  double scale_;
  std::int64_t log_r_ = 0, acceptance_ = 0;
  bool waiting_ = false;
};

// Appends a bit: whether a + b is at least 2^32. Two instructions of a GPU.
inline SALTUS_BOTH void append_carry(std::uint32_t& bits, std::uint32_t a, std::uint32_t b) {
#ifdef __CUDA_ARCH__
  asm("{\n\t.reg .u32 sum;\n\tadd.cc.u32 sum, %1, %2;\n\taddc.u32 %0, %0, %0;\n\t}"
      : "+r"(bits)
      : "r"(a), "r"(b));
#else
  bits = 2 * bits + (a + b < a);
#endif
}

// Which of 32 sites flip: word `word` of the lattice, the word beside it (word ^ 1) being that of
// the neighbouring lane. The 16 random blocks of these 64 sites are drawn by both together, eight
// each. `table` holds minus_threshold, 32 copies of each, one for a lane.
template <class Kind, class Team>
SALTUS_BOTH std::uint32_t draw_flips(const Team& team, const LatticeLaw& law,
                                     const std::uint32_t* table, const Codes<Kind>& codes, int word,
                                     const Stream& stream) {
  constexpr int kInNibble = Kind::kPlanes < 4 ? Kind::kPlanes : 4;
  constexpr std::uint32_t kDigits = ((1u << kInNibble) - 1)
                                    << 7;  // of a table of 128 bytes an entry
  // Byte w of what a lane decides about holds sites 16 w .. 16 w + 7 of the 64, or the next eight.
  const std::uint32_t odd = static_cast<std::uint32_t>(word) & 1;
  const std::uint32_t gather = odd ? 0x3175 : 0x6420, scatter = odd ? 0x3726 : 0x5140;
  std::uint32_t v[Kind::kPlanes];
  SALTUS_UNROLL
  for (int b = 0; b < Kind::kPlanes; ++b) {
    v[b] = pick_bytes(codes.plane[b], team.exchange(codes.plane[b]), gather);
  }
  std::uint32_t nibbles[4];  // site 4 t + r: nibble t of nibbles[r]
  SALTUS_UNROLL
  for (int r = 0; r < 4; ++r) {
    nibbles[r] = 0;
    SALTUS_UNROLL
    for (int b = 0; b < kInNibble; ++b) {
      nibbles[r] |= (b >= r ? v[b] << (b - r) : v[b] >> (r - b)) & (0x11111111u << b);
    }
  }
  const std::uint32_t lane = static_cast<std::uint32_t>(team.lane()) * 4;
  const std::uint32_t first_block = static_cast<std::uint32_t>(word >> 1) * 16 + 8 * odd;
  std::uint32_t reached[4] = {};  // bit j of reached[w]: the word is not below the threshold
  SALTUS_UNROLL
  for (int j = 7; j >= 0; --j) {
    const PhiloxBlock random = stream.block(first_block + static_cast<std::uint32_t>(j));
    SALTUS_UNROLL
    for (int w = 0; w < 4; ++w) {
      const int t = 2 * w + j / 4;
      const std::uint32_t n = nibbles[j % 4];
      std::uint32_t at = (t < 2 ? n << (7 - 4 * t) : n >> (4 * t - 7)) & kDigits;
      if constexpr (Kind::kPlanes == 5) {
        const int site = 8 * w + j;
        at |= (site < 11 ? v[4] << (11 - site) : v[4] >> (site - 11)) & 0x800;
      }
      append_carry(reached[w], random.words[w], table[(at | lane) / 4]);
    }
  }
  const std::uint32_t low = pick_bytes(reached[0], reached[1], 0x0040);
  const std::uint32_t high = pick_bytes(reached[2], reached[3], 0x0040);
  std::uint32_t flips = ~pick_bytes(low, high, 0x5410);
  flips = pick_bytes(flips, team.exchange(flips), scatter);
  if (law.never) flips &= ~members(codes, law.never);
  if (law.inverted) flips ^= members(codes, law.inverted);
  return flips;
}

template <class Kind, int kOwn, bool kAligned, class Team>
class LangevinLattice : LatticeWords<Kind, kOwn, kAligned, Team> {
  using Base = LatticeWords<Kind, kOwn, kAligned, Team>;
  using Base::kWords, Base::team_, Base::steps_, Base::memory_, Base::chain_, Base::edges_,
      Base::x_, Base::codes_;

 public:
  SALTUS_BOTH LangevinLattice(const Team& team, const LatticeSteps& steps,
                              const LatticeMemory& memory, int chain)
      : Base(team, steps, memory, chain), tests_(steps.law.scale), sum_(local_sum(codes_)) {}

  // All steps, with (DMALA) or without (DULA) the Metropolis test.
  template <bool kAdjust>
  SALTUS_BOTH void advance() {
    std::uint32_t offset = 0;
    for (int part = 0; part < steps_.parts; ++part) {
      const auto end = static_cast<std::uint32_t>(steps_.ends[part]);
      for (; offset < end; ++offset) step<kAdjust>(offset);
      done_.acceptance = Base::leads() ? tests_.take() : 0;
      Base::record(part, done_);
      done_ = {};
    }
    Base::write(steps_.state(chain_));
  }

 private:
  // This thread's part of F.
  SALTUS_BOTH std::uint64_t local_sum(const Codes<Kind> (&codes)[kWords]) const {
    std::uint64_t sum = 0;
    SALTUS_UNROLL
    for (int c = 0; c < Kind::kCounters; ++c) {
      sum += static_cast<std::uint64_t>(Base::count_of(codes, c) * steps_.law.weight[c]);
    }
    return sum;
  }
  // The sum over the team. Between two calls there must be a barrier.
  SALTUS_BOTH std::int64_t sum_of_team(std::uint64_t v) const {
    const std::uint64_t of_warp = sum_of_warp(team_, v);
    if (team_.lane() == 0) team_.share(memory_.sums + Base::entry(), of_warp);
    team_.sync();
    const std::uint64_t mine = Base::has_entry() ? memory_.sums[team_.lane()] : 0;
    return static_cast<std::int64_t>(sum_of_warp(team_, mine));
  }

  template <bool kAdjust>
  SALTUS_BOTH void step(std::uint32_t offset) {
    if (kAdjust && offset % Team::kWarp == 0 && team_.warp() == 0) {
      const std::uint32_t of_lane = offset + static_cast<std::uint32_t>(team_.lane());
      memory_.log_u[of_lane % (2 * Team::kWarp)] = tests_.draw(steps_, chain_, of_lane);
    }
    const Stream stream = steps_.stream(chain_, offset, Purpose::propose);
    const int buffer = kAdjust ? 0 : static_cast<int>(offset & 1);
    std::uint32_t y[kWords], flipped = 0, any = 0;
    SALTUS_UNROLL
    for (int k = 0; k < kOwn; ++k) {
      const std::uint32_t flips =
          edges_[k].valid &
          draw_flips<Kind>(team_, steps_.law, memory_.table, codes_[k], Base::word(k), stream);
      y[k] = x_[k] ^ flips;
      Base::publish(k, y[k], buffer);
      flipped += static_cast<std::uint32_t>(count_bits(flips));
      any |= flips;
    }
    done_.proposed += flipped;
    const bool proposes = team_.any(any != 0, Base::flags(offset));
    Codes<Kind> there[kWords];
    SALTUS_UNROLL
    for (int k = 0; k < kOwn; ++k) there[k] = Base::codes(k, y[k], buffer);
    bool accept = true;
    std::uint64_t sum = 0;
    if constexpr (kAdjust) {
      sum = local_sum(there);
      const std::int64_t log_r = sum_of_team(sum_ - sum);
      accept = memory_.log_u[offset % (2 * Team::kWarp)] < log_r;
      if (Base::leads()) {
        const std::uint32_t lane = offset % Team::kWarp;
        tests_.remember(static_cast<std::uint32_t>(team_.lane()) == lane, log_r);
        if (lane == Team::kWarp - 1) tests_.add_up();
      }
    }
    done_.empty += !proposes;
    if (!accept) return;
    ++done_.accepted;
    done_.moved += proposes;
    done_.changed += flipped;
    sum_ = sum;
    SALTUS_UNROLL
    for (int k = 0; k < kOwn; ++k) x_[k] = y[k], codes_[k] = there[k];
  }

  Tests tests_;
  std::uint64_t sum_;
  LatticeRecord done_{};  // since the last record
};

// A class of sites in one load.
struct alignas(16) SiteEntry {
  std::uint32_t threshold, likely_flips;
  std::int64_t softplus;

  static SALTUS_BOTH SiteEntry of(const LatticeLaw& law, int code) {
    return {0u - law.minus_threshold[code], law.inverted >> code & 1, law.softplus[code]};
  }
  SALTUS_BOTH bool flips(std::uint32_t word) const {
    return (word < threshold) != (likely_flips != 0);
  }
};

template <class Kind, class Team>
class SmallLangevinLattice : SmallLattice<Kind, Team> {
  using Base = SmallLattice<Kind, Team>;
  using Base::team_, Base::steps_, Base::chain_, Base::x_, Base::codes_;

 public:
  SALTUS_BOTH SmallLangevinLattice(const Team& team, const LatticeSteps& steps,
                                   const SiteEntry* table, int chain)
      : Base(team, steps, chain),
        table_(table),
        tests_(steps.law.scale),
        here_(table[Base::code(codes_)]) {}

  template <bool kAdjust>
  SALTUS_BOTH void advance() {
    std::uint32_t offset = 0, word = draw(0);
    std::int64_t log_u = 0;
    for (int part = 0; part < steps_.parts; ++part) {
      const auto end = static_cast<std::uint32_t>(steps_.ends[part]);
      for (; offset < end; ++offset) {
        if (kAdjust && offset % Team::kWarp == 0) {
          log_u = tests_.draw(steps_, chain_, offset + static_cast<std::uint32_t>(team_.lane()));
        }
        const std::uint32_t next = draw(offset + 1);  // which need not wait for this step
        step<kAdjust>(offset, word, log_u);
        word = next;
      }
      done_.acceptance = tests_.take();
      Base::record(part, done_);
      done_ = {};
    }
    if (team_.lane() == 0) steps_.state(chain_)[0] = x_;
  }

 private:
  // Word l / 16 of block l % 16 is that of site l.
  SALTUS_BOTH std::uint32_t draw(std::uint32_t offset) const {
    const auto lane = static_cast<std::uint32_t>(team_.lane());
    const PhiloxBlock r = steps_.stream(chain_, offset, Purpose::propose).block(lane % 16);
    return lane < 16 ? r.words[0] : r.words[1];
  }

  template <bool kAdjust>
  SALTUS_BOTH void step(std::uint32_t offset, std::uint32_t word, std::int64_t log_u) {
    const std::uint32_t flips = team_.ballot(Base::is_site() && here_.flips(word)), y = x_ ^ flips;
    const Codes<Kind> codes_there = Base::codes(y);
    const SiteEntry there = table_[Base::code(codes_there)];
    bool accept = true;
    if constexpr (kAdjust) {
      const auto difference = static_cast<std::uint64_t>(here_.softplus - there.softplus);
      const auto log_r =
          static_cast<std::int64_t>(sum_of_warp(team_, Base::is_site() ? difference : 0));
      const std::uint32_t lane = offset % Team::kWarp;
      accept = team_.of_lane(log_u, static_cast<int>(lane)) < log_r;
      tests_.remember(static_cast<std::uint32_t>(team_.lane()) == lane, log_r);
      if (lane == Team::kWarp - 1) tests_.add_up();
    }
    const auto flipped = static_cast<std::uint32_t>(count_bits(flips));
    done_.proposed += flipped;
    done_.empty += flips == 0;
    done_.accepted += accept;
    done_.moved += accept && flips != 0;
    done_.changed += accept ? flipped : 0;
    x_ = accept ? y : x_;
    here_ = accept ? there : here_;
    SALTUS_UNROLL
    for (int b = 0; b < Kind::kPlanes; ++b) {
      codes_.plane[b] = accept ? codes_there.plane[b] : codes_.plane[b];
    }
  }

  const SiteEntry* table_;
  Tests tests_;
  SiteEntry here_;
  LatticeRecord done_{};  // since the last record
};

// The same without a team: a thread has a chain of at most 32 sites, its neighbours other chains.
template <class Kind, class Team>
class LoneLangevinLattice {
 public:
  // `table` is that of draw_flips.
  SALTUS_BOTH LoneLangevinLattice(const Team& team, const LatticeSteps& steps,
                                  const std::uint32_t* table, int chain)
      : steps_(steps),
        table_(table),
        lane_(static_cast<std::uint32_t>(team.lane()) * 4),
        chain_(chain),
        edges_(edges_of(steps.shape, 0)),
        x_(steps.state(chain)[0]),
        codes_(codes(x_)),
        sum_(sum(codes_)) {}

  template <bool kAdjust>
  SALTUS_BOTH void advance() {
    std::uint32_t offset = 0;
    for (int part = 0; part < steps_.parts; ++part) {
      const auto end = static_cast<std::uint32_t>(steps_.ends[part]);
      for (; offset < end; ++offset) step<kAdjust>(offset);
      record(part);
    }
    steps_.state(chain_)[0] = x_;
  }

 private:
  SALTUS_BOTH Codes<Kind> codes(std::uint32_t v) const {
    return codes_of<Kind>(neighbours_up(steps_.shape, edges_, v), edges_.missing, v);
  }
  SALTUS_BOTH std::int64_t sum(const Codes<Kind>& codes) const {
    std::int64_t sum = 0;
    SALTUS_UNROLL
    for (int c = 0; c < Kind::kCounters; ++c) {
      sum += count_bits(counted<Kind>(codes, c)) * steps_.law.weight[c];
    }
    return sum;
  }

  // Block j has the words of sites j and 16 + j.
  SALTUS_BOTH std::uint32_t draw(const Stream& stream) const {
    constexpr int kInNibble = Kind::kPlanes < 4 ? Kind::kPlanes : 4;
    constexpr std::uint32_t kDigits = ((1u << kInNibble) - 1) << 7;
    std::uint32_t nibbles[4];  // site 4 t + r: nibble t of nibbles[r]
    SALTUS_UNROLL
    for (int r = 0; r < 4; ++r) {
      nibbles[r] = 0;
      SALTUS_UNROLL
      for (int b = 0; b < kInNibble; ++b) {
        const std::uint32_t v = codes_.plane[b];
        nibbles[r] |= (b >= r ? v << (b - r) : v >> (r - b)) & (0x11111111u << b);
      }
    }
    std::uint32_t reached[2] = {};
    SALTUS_UNROLL
    for (int j = 15; j >= 0; --j) {  // without a branch, so that blocks are drawn side by side
      const PhiloxBlock random = stream.block(static_cast<std::uint32_t>(j));
      SALTUS_UNROLL
      for (int w = 0; w < 2; ++w) {
        const int site = 16 * w + j, t = site / 4;
        const std::uint32_t n = nibbles[j % 4];
        std::uint32_t at = (t < 2 ? n << (7 - 4 * t) : n >> (4 * t - 7)) & kDigits;
        if constexpr (Kind::kPlanes == 5) {
          const std::uint32_t spin = codes_.plane[4];
          at |= (site < 11 ? spin << (11 - site) : spin >> (site - 11)) & 0x800;
        }
        append_carry(reached[w], random.words[w], table_[(at | lane_) / 4]);
      }
    }
    std::uint32_t flips = ~(reached[0] | reached[1] << 16);
    if (steps_.law.never) flips &= ~members(codes_, steps_.law.never);
    if (steps_.law.inverted) flips ^= members(codes_, steps_.law.inverted);
    return flips & edges_.valid;
  }

  template <bool kAdjust>
  SALTUS_BOTH void step(std::uint32_t offset) {
    const std::uint32_t flips = draw(steps_.stream(chain_, offset, Purpose::propose));
    const std::uint32_t y = x_ ^ flips;
    const Codes<Kind> codes_there = codes(y);
    const auto flipped = static_cast<std::uint32_t>(count_bits(flips));
    done_.proposed += flipped;
    done_.empty += flips == 0;
    bool accept = true;
    std::int64_t there = 0;
    if constexpr (kAdjust) {
      there = sum(codes_there);
      const std::int64_t log_r = sum_ - there;
      const double scale = steps_.law.scale;
      accept = scaled_log(steps_.stream(chain_, offset, Purpose::accept).uniform(), scale) < log_r;
      done_.acceptance += scaled_acceptance(log_r, scale);
    }
    done_.accepted += accept;
    done_.moved += accept && flips != 0;
    done_.changed += accept ? flipped : 0;
    x_ = accept ? y : x_;
    sum_ = accept ? there : sum_;
    SALTUS_UNROLL
    for (int b = 0; b < Kind::kPlanes; ++b) {
      codes_.plane[b] = accept ? codes_there.plane[b] : codes_.plane[b];
    }
  }

  SALTUS_BOTH void record(int part) {
    done_.pairs = steps_.law.rest_pairs, done_.spins = steps_.law.rest_spins;
    SALTUS_UNROLL
    for (int c = 0; c < Kind::kCounters; ++c) {
      const int count = count_bits(counted<Kind>(codes_, c));
      done_.pairs += count * steps_.law.pairs[c];
      done_.spins += count * steps_.law.spins[c];
    }
    steps_.record(part, chain_) = done_;
    if (std::uint32_t* kept = steps_.place(part, chain_)) *kept = x_;
    done_ = {};
  }

  const LatticeSteps& steps_;
  const std::uint32_t* table_;
  std::uint32_t lane_;
  int chain_;
  Edges edges_;
  std::uint32_t x_;
  Codes<Kind> codes_;
  std::int64_t sum_;
  LatticeRecord done_{};  // since the last record
};

}  // namespace saltus::cuda
