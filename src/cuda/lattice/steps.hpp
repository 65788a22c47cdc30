// Many steps of DULA and DMALA of one chain on an Ising lattice, by a team of threads that keep its
// state in registers: 32 sites, or a few times as many, to a thread; or a thread to a site. A team
// consists of warps of kWarp lanes, 32 on a GPU, whose lanes exchange numbers without a barrier.
//
// Random numbers, and what they decide, are those of the host's samplers.
#pragma once

#include <cmath>

#include "cuda/lattice/law.hpp"
#include "saltus/core/philox.hpp"

namespace saltus::cuda {

// What a chain did in some steps, and the sums of its state after the last of them.
struct LatticeRecord {
  std::int64_t acceptance;  // sum of the probabilities, times kAcceptanceUnit
  std::uint32_t accepted, proposed, changed, empty, moved;
  std::int32_t pairs, spins;  // sums of s_i (sum of neighbours) and of s_i
};
inline constexpr double kAcceptanceUnit = 0x1p40;

// A block of steps of all chains. The pointers are to memory of the device.
struct LatticeSteps {
  LatticeShape shape;
  LatticeLaw law;
  std::uint64_t seed, step;
  std::uint32_t first_chain;
  int chains;
  std::uint32_t* states;  // of each chain, `words` words; bits without a site are 0
  // Steps fall into parts, with a record of each part and chain. `ends[p]`: the number of steps up
  // to the end of part p, above 0 and growing.
  int parts;
  const std::int32_t* ends;
  LatticeRecord* records;
  const std::int32_t* places;  // of each part: where the state after it goes; -1: nowhere
  std::uint32_t* kept;         // of each place and chain

  SALTUS_BOTH Stream stream(int chain, std::uint32_t offset, Purpose purpose) const {
    return {seed, first_chain + static_cast<std::uint32_t>(chain), step + offset, purpose};
  }
  SALTUS_BOTH std::uint32_t* state(int chain) const {
    return states + static_cast<std::ptrdiff_t>(chain) * shape.words;
  }
  SALTUS_BOTH LatticeRecord& record(int part, int chain) const {
    return records[static_cast<std::ptrdiff_t>(part) * chains + chain];
  }
  SALTUS_BOTH std::uint32_t* place(int part, int chain) const {
    if (places[part] < 0) return nullptr;
    return kept + (static_cast<std::ptrdiff_t>(places[part]) * chains + chain) * shape.words;
  }
};

// The sum over a warp, modulo 2^64, from sums of 22 bits.
template <class Team>
SALTUS_BOTH std::uint64_t sum_of_warp(const Team& team, std::uint64_t v) {
  constexpr std::uint32_t kLow = (1u << 22) - 1;
  const std::uint32_t low = static_cast<std::uint32_t>(v) & kLow;
  const std::uint32_t middle = static_cast<std::uint32_t>(v >> 22) & kLow;
  const std::uint32_t high = static_cast<std::uint32_t>(v >> 44);
  return team.sum_of_warp(low) + (std::uint64_t{team.sum_of_warp(middle)} << 22) +
         (std::uint64_t{team.sum_of_warp(high)} << 44);
}

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
      const std::uint32_t minus = table[(at | lane) / 4];
#ifdef __CUDA_ARCH__
      asm("{\n\t.reg .u32 sum;\n\tadd.cc.u32 sum, %1, %2;\n\taddc.u32 %0, %0, %0;\n\t}"
          : "+r"(reached[w])
          : "r"(random.words[w]), "r"(minus));
#else
      reached[w] = 2 * reached[w] + (minus != 0 && random.words[w] >= 0u - minus);
#endif
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

// What a team of several warps shares.
struct LatticeMemory {
  static constexpr int kMostWarps = 32, kTests = 64;
  std::int64_t* log_u;    // of two turns of a warp's lanes: kTests at most
  std::uint64_t* sums;    // kMostWarps
  std::uint32_t* counts;  // 4 kMostWarps
  std::uint32_t* table;   // 32 of each code
  std::uint32_t* sites;   // two flat arrays with their padding

  template <class Kind>
  static std::size_t bytes(const LatticeShape& shape) {
    return 8 * (kTests + kMostWarps) +
           4 * (4 * kMostWarps + 32 * Kind::kCodes + 2 * std::size_t(length(shape)));
  }
  template <class Kind>
  static SALTUS_BOTH LatticeMemory in(void* memory) {
    auto* log_u = static_cast<std::int64_t*>(memory);
    auto* sums = reinterpret_cast<std::uint64_t*>(log_u + kTests);
    auto* counts = reinterpret_cast<std::uint32_t*>(sums + kMostWarps);
    auto* table = counts + 4 * kMostWarps;
    return {log_u, sums, counts, table, table + 32 * Kind::kCodes};
  }
  static SALTUS_BOTH int length(const LatticeShape& shape) {
    return shape.words + 2 * lattice_padding(shape);
  }
};

// A chain whose thread k has words k, k + size, ... of the lattice, kOwn of them. `kAligned` says
// that the shape is.
template <class Kind, int kOwn, bool kAligned, class Team>
class LatticeChain {
 public:
  SALTUS_BOTH LatticeChain(const Team& team, const LatticeSteps& steps, const LatticeMemory& memory,
                           int chain)
      : team_(team),
        steps_(steps),
        memory_(memory),
        chain_(chain),
        padding_(lattice_padding(steps.shape)),
        length_(LatticeMemory::length(steps.shape)),
        tests_(steps.law.scale) {
    for (int k = team.rank(); k < 32 * Kind::kCodes; k += team.size()) {
      memory_.table[k] = steps.law.minus_threshold[k / 32];
    }
    for (int k = team.rank(); k < 2 * length_; k += team.size()) memory_.sites[k] = 0;
    const int words_of_row = steps.shape.cols / 32;
    SALTUS_UNROLL
    for (int k = 0; k < kOwn; ++k) {
      const int w = word(k);
      edges_[k] = edges_of(steps.shape, w < steps.shape.words ? w : 0);
      if (w >= steps.shape.words) edges_[k] = {0, 0, 0, {0, 0, 0}};
      x_[k] = w < steps.shape.words ? steps.state(chain)[w] : 0;
    }
    if constexpr (kAligned) {  // words of a thread are in one column: rows divide the team
      const int column = word(0) % words_of_row;
      before_ = column == 0 ? words_of_row - 1 : -1;
      after_ = column == words_of_row - 1 ? 1 - words_of_row : 1;
    }
    team.sync();
    SALTUS_UNROLL
    for (int k = 0; k < kOwn; ++k) publish(k, x_[k], 1);
    team.sync();
    SALTUS_UNROLL
    for (int k = 0; k < kOwn; ++k) codes_[k] = codes(k, x_[k], 1);
    sum_ = local_sum(codes_);
  }

  // All steps, with (DMALA) or without (DULA) the Metropolis test.
  template <bool kAdjust>
  SALTUS_BOTH void advance() {
    std::uint32_t offset = 0;
    for (int part = 0; part < steps_.parts; ++part) {
      const auto end = static_cast<std::uint32_t>(steps_.ends[part]);
      for (; offset < end; ++offset) step<kAdjust>(offset);
      record(part);
    }
    SALTUS_UNROLL
    for (int k = 0; k < kOwn; ++k) {
      if (word(k) < steps_.shape.words) steps_.state(chain_)[word(k)] = x_[k];
    }
  }

 private:
  static constexpr auto kWords = static_cast<std::size_t>(kOwn);

  SALTUS_BOTH int word(int k) const { return team_.rank() + k * team_.size(); }
  // Threads without a word read where there is one.
  SALTUS_BOTH int place(int k) const {
    return word(k) < steps_.shape.words ? word(k) : steps_.shape.words - 1;
  }
  SALTUS_BOTH std::uint32_t* sites(int buffer) const {
    return memory_.sites + buffer * length_ + padding_;
  }
  SALTUS_BOTH void publish(int k, std::uint32_t v, int buffer) const {
    if (word(k) < steps_.shape.words) sites(buffer)[word(k)] = v;
  }
  SALTUS_BOTH Codes<Kind> codes(int k, std::uint32_t v, int buffer) const {
    const std::uint32_t* bits = sites(buffer);
    const int w = place(k);
    if constexpr (kAligned) {
      const Planes up = neighbours_up(steps_.shape, edges_[k].valid, bits, w, v, bits[w + before_],
                                      bits[w + after_]);
      return codes_of<Kind>(up, edges_[k].missing, v);
    } else {
      return codes_of<Kind>(neighbours_up(steps_.shape, edges_[k], bits, w, v), edges_[k].missing,
                            v);
    }
  }
  // This thread's part of F.
  SALTUS_BOTH std::uint64_t local_sum(const Codes<Kind> (&codes)[kWords]) const {
    std::uint64_t sum = 0;
    SALTUS_UNROLL
    for (int c = 0; c < Kind::kCounters; ++c) {
      int count = 0;
      SALTUS_UNROLL
      for (int k = 0; k < kOwn; ++k) count += count_bits(counted<Kind>(codes[k], c));
      sum += static_cast<std::uint64_t>(count * steps_.law.weight[c]);
    }
    return sum;
  }
  // The sum over the team. Between two calls there must be a barrier.
  SALTUS_BOTH std::int64_t sum_of_team(std::uint64_t v) const {
    const std::uint64_t of_warp = sum_of_warp(team_, v);
    if (team_.lane() == 0) memory_.sums[team_.warp()] = of_warp;
    team_.sync();
    const std::uint64_t mine = team_.lane() < team_.warps() ? memory_.sums[team_.lane()] : 0;
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
          draw_flips<Kind>(team_, steps_.law, memory_.table, codes_[k], word(k), stream);
      y[k] = x_[k] ^ flips;
      publish(k, y[k], buffer);
      flipped += static_cast<std::uint32_t>(count_bits(flips));
      any |= flips;
    }
    proposed_ += flipped;
    const bool proposes = team_.any(any != 0);
    Codes<Kind> there[kWords];
    SALTUS_UNROLL
    for (int k = 0; k < kOwn; ++k) there[k] = codes(k, y[k], buffer);
    bool accept = true;
    std::uint64_t sum = 0;
    if constexpr (kAdjust) {
      sum = local_sum(there);
      const std::int64_t log_r = sum_of_team(sum_ - sum);
      accept = memory_.log_u[offset % (2 * Team::kWarp)] < log_r;
      if (team_.warp() == 0) {
        const std::uint32_t lane = offset % Team::kWarp;
        tests_.remember(static_cast<std::uint32_t>(team_.lane()) == lane, log_r);
        if (lane == Team::kWarp - 1) tests_.add_up();
      }
    }
    empty_ += !proposes;
    if (!accept) return;
    ++accepted_;
    moved_ += proposes;
    changed_ += flipped;
    sum_ = sum;
    SALTUS_UNROLL
    for (int k = 0; k < kOwn; ++k) x_[k] = y[k], codes_[k] = there[k];
  }

  // What happened since the last record, and the sums of the state.
  SALTUS_BOTH void record(int part) {
    std::uint32_t counts[4] = {proposed_, changed_, 0, 0};
    SALTUS_UNROLL
    for (int c = 0; c < Kind::kCounters; ++c) {
      int count = 0;
      SALTUS_UNROLL
      for (int k = 0; k < kOwn; ++k) count += count_bits(counted<Kind>(codes_[k], c));
      counts[2] += static_cast<std::uint32_t>(count * steps_.law.pairs[c]);
      counts[3] += static_cast<std::uint32_t>(count * steps_.law.spins[c]);
    }
    SALTUS_UNROLL
    for (int k = 0; k < 4; ++k) {
      counts[k] = team_.sum_of_warp(counts[k]);
      if (team_.lane() == 0)
        memory_.counts[k * LatticeMemory::kMostWarps + team_.warp()] = counts[k];
    }
    team_.sync();
    if (team_.warp() == 0) {
      SALTUS_UNROLL
      for (int k = 0; k < 4; ++k) {
        const bool there = team_.lane() < team_.warps();
        counts[k] = team_.sum_of_warp(
            there ? memory_.counts[k * LatticeMemory::kMostWarps + team_.lane()] : 0);
      }
      const std::uint64_t acceptance =
          sum_of_warp(team_, static_cast<std::uint64_t>(tests_.take()));
      if (team_.rank() == 0) {
        steps_.record(part, chain_) = {
            static_cast<std::int64_t>(acceptance),
            accepted_,
            counts[0],
            counts[1],
            empty_,
            moved_,
            steps_.law.rest_pairs + static_cast<std::int32_t>(counts[2]),
            steps_.law.rest_spins + static_cast<std::int32_t>(counts[3])};
      }
    }
    if (std::uint32_t* kept = steps_.place(part, chain_)) {
      SALTUS_UNROLL
      for (int k = 0; k < kOwn; ++k) {
        if (word(k) < steps_.shape.words) kept[word(k)] = x_[k];
      }
    }
    proposed_ = changed_ = accepted_ = empty_ = moved_ = 0;
    team_.sync();  // before the counts are written again
  }

  const Team& team_;
  const LatticeSteps& steps_;
  LatticeMemory memory_;
  int chain_, padding_, length_, before_ = 0, after_ = 0;
  Tests tests_;
  Edges edges_[kWords];
  std::uint32_t x_[kWords];
  Codes<Kind> codes_[kWords];
  std::uint64_t sum_ = 0;
  std::uint32_t proposed_ = 0, changed_ = 0;            // by this thread
  std::uint32_t accepted_ = 0, empty_ = 0, moved_ = 0;  // all threads have the same
};

// At most 32 sites: lane i of a warp has site i, and all lanes know the whole state.
template <class Kind, class Team>
class SmallLatticeChain {
 public:
  // A class of sites in one load.
  struct alignas(16) Entry {
    std::uint32_t threshold, likely_flips;
    std::int64_t softplus;
  };
  static SALTUS_BOTH Entry entry(const LatticeLaw& law, int code) {
    return {0u - law.minus_threshold[code], law.inverted >> code & 1, law.softplus[code]};
  }

  SALTUS_BOTH SmallLatticeChain(const Team& team, const LatticeSteps& steps, const Entry* table,
                                int chain)
      : team_(team),
        steps_(steps),
        table_(table),
        chain_(chain),
        tests_(steps.law.scale),
        edges_(edges_of(steps.shape, 0)),
        x_(steps.state(chain)[0]),
        codes_(codes(x_)),
        here_(table[code(codes_)]) {}

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
      record(part);
    }
    if (team_.lane() == 0) steps_.state(chain_)[0] = x_;
  }

 private:
  SALTUS_BOTH bool is_site() const { return edges_.valid >> team_.lane() & 1; }
  // Word l / 16 of block l % 16 is that of site l.
  SALTUS_BOTH std::uint32_t draw(std::uint32_t offset) const {
    const auto lane = static_cast<std::uint32_t>(team_.lane());
    const PhiloxBlock r = steps_.stream(chain_, offset, Purpose::propose).block(lane % 16);
    return lane < 16 ? r.words[0] : r.words[1];
  }
  SALTUS_BOTH Codes<Kind> codes(std::uint32_t v) const {
    return codes_of<Kind>(neighbours_up(steps_.shape, edges_, v), edges_.missing, v);
  }
  SALTUS_BOTH int code(const Codes<Kind>& codes) const {
    std::uint32_t code = 0;
    SALTUS_UNROLL
    for (int b = 0; b < Kind::kPlanes; ++b) code |= (codes.plane[b] >> team_.lane() & 1) << b;
    return static_cast<int>(code);
  }

  template <bool kAdjust>
  SALTUS_BOTH void step(std::uint32_t offset, std::uint32_t word, std::int64_t log_u) {
    const bool flip = is_site() && (word < here_.threshold) != (here_.likely_flips != 0);
    const std::uint32_t flips = team_.ballot(flip), y = x_ ^ flips;
    const Codes<Kind> codes_there = codes(y);
    const Entry there = table_[code(codes_there)];
    bool accept = true;
    if constexpr (kAdjust) {
      const auto difference = static_cast<std::uint64_t>(here_.softplus - there.softplus);
      const auto log_r = static_cast<std::int64_t>(sum_of_warp(team_, is_site() ? difference : 0));
      const std::uint32_t lane = offset % Team::kWarp;
      accept = team_.of_lane(log_u, static_cast<int>(lane)) < log_r;
      tests_.remember(static_cast<std::uint32_t>(team_.lane()) == lane, log_r);
      if (lane == Team::kWarp - 1) tests_.add_up();
    }
    const auto flipped = static_cast<std::uint32_t>(count_bits(flips));
    proposed_ += flipped;
    empty_ += flips == 0;
    accepted_ += accept;
    moved_ += accept && flips != 0;
    changed_ += accept ? flipped : 0;
    x_ = accept ? y : x_;
    here_ = accept ? there : here_;
    SALTUS_UNROLL
    for (int b = 0; b < Kind::kPlanes; ++b) {
      codes_.plane[b] = accept ? codes_there.plane[b] : codes_.plane[b];
    }
  }

  SALTUS_BOTH void record(int part) {
    std::int32_t pairs = steps_.law.rest_pairs, spins = steps_.law.rest_spins;
    SALTUS_UNROLL
    for (int c = 0; c < Kind::kCounters; ++c) {
      const int count = count_bits(counted<Kind>(codes_, c));
      pairs += count * steps_.law.pairs[c];
      spins += count * steps_.law.spins[c];
    }
    const auto acceptance =
        static_cast<std::int64_t>(sum_of_warp(team_, static_cast<std::uint64_t>(tests_.take())));
    if (team_.lane() == 0) {
      steps_.record(part, chain_) = {acceptance, accepted_, proposed_, changed_,
                                     empty_,     moved_,    pairs,     spins};
      if (std::uint32_t* kept = steps_.place(part, chain_)) *kept = x_;
    }
    proposed_ = changed_ = accepted_ = empty_ = moved_ = 0;
  }

  const Team& team_;
  const LatticeSteps& steps_;
  const Entry* table_;
  int chain_;
  Tests tests_;
  Edges edges_;
  std::uint32_t x_;
  Codes<Kind> codes_;
  Entry here_;
  std::uint32_t proposed_ = 0, changed_ = 0, accepted_ = 0, empty_ = 0, moved_ = 0;
};

}  // namespace saltus::cuda
