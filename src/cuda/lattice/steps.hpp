// What the steps of chains on an Ising lattice have in common, whatever the sampler: many steps of
// one chain by a team of threads that keep its state in registers, 32 sites, or a few times as
// many, to a thread. A team is a block of threads, or kBlocks of them, in warps of kWarp lanes, 32
// on a GPU, which exchange numbers without a barrier. Each block has memory that its threads share;
// share() writes to the same place of all blocks.
#pragma once

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

// What a team of several warps shares.
struct LatticeMemory {
  static constexpr int kMostWarps = 32, kTests = 64;
  std::int64_t* log_u;    // of two turns of a warp's lanes: kTests at most
  std::uint64_t* sums;    // kMostWarps
  std::uint32_t* counts;  // 4 kMostWarps
  std::uint32_t* flags;   // 2 kMostWarps
  std::uint32_t* table;   // 32 of each code
  std::uint32_t* sites;   // two flat arrays with their padding

  template <class Kind>
  static std::size_t bytes(const LatticeShape& shape) {
    return 8 * (kTests + kMostWarps) +
           4 * (6 * kMostWarps + 32 * Kind::kCodes + 2 * std::size_t(length(shape)));
  }
  template <class Kind>
  static SALTUS_BOTH LatticeMemory in(void* memory) {
    auto* log_u = static_cast<std::int64_t*>(memory);
    auto* sums = reinterpret_cast<std::uint64_t*>(log_u + kTests);
    auto* counts = reinterpret_cast<std::uint32_t*>(sums + kMostWarps);
    auto* flags = counts + 4 * kMostWarps;
    auto* table = flags + 2 * kMostWarps;
    return {log_u, sums, counts, flags, table, table + 32 * Kind::kCodes};
  }
  static SALTUS_BOTH int length(const LatticeShape& shape) {
    return shape.words + 2 * lattice_padding(shape);
  }
};

// The state of a chain. Blocks have equal parts of the words, and thread k of one has words k,
// k + size, ... of these, kOwn of them. `kAligned` says that the shape is, as it must be where
// there are several blocks.
template <class Kind, int kOwn, bool kAligned, class Team>
class LatticeWords {
  static_assert(kAligned || Team::kBlocks == 1);

 public:
  SALTUS_BOTH LatticeWords(const Team& team, const LatticeSteps& steps, const LatticeMemory& memory,
                           int chain)
      : team_(team),
        steps_(steps),
        memory_(memory),
        chain_(chain),
        begin_(steps.shape.words / Team::kBlocks * team.block()),
        end_(begin_ + steps.shape.words / Team::kBlocks),
        padding_(lattice_padding(steps.shape)),
        length_(LatticeMemory::length(steps.shape)) {
    for (int k = team.rank(); k < 32 * Kind::kCodes; k += team.size()) {
      memory_.table[k] = steps.law.minus_threshold[k / 32];
    }
    for (int k = team.rank(); k < 2 * length_; k += team.size()) memory_.sites[k] = 0;
    SALTUS_UNROLL
    for (int k = 0; k < kOwn; ++k) {
      edges_[k] = is_word(k) ? edges_of(steps.shape, word(k)) : Edges{0, 0, 0, {0, 0, 0}};
      x_[k] = is_word(k) ? steps.state(chain)[word(k)] : 0;
    }
    if constexpr (kAligned) {  // words of a thread are in one column: rows divide a block
      const int words_of_row = steps.shape.cols / 32, column = word(0) % words_of_row;
      before_ = column == 0 ? words_of_row - 1 : -1;
      after_ = column == words_of_row - 1 ? 1 - words_of_row : 1;
    }
    team.sync();
    SALTUS_UNROLL
    for (int k = 0; k < kOwn; ++k) publish(k, x_[k], 1);
    team.sync();
    SALTUS_UNROLL
    for (int k = 0; k < kOwn; ++k) codes_[k] = codes(k, x_[k], 1);
  }

 protected:
  static constexpr auto kWords = static_cast<std::size_t>(kOwn);

  SALTUS_BOTH int word(int k) const { return begin_ + team_.rank() + k * team_.size(); }
  SALTUS_BOTH bool is_word(int k) const { return word(k) < end_; }
  SALTUS_BOTH std::uint32_t* sites(int buffer) const {
    return memory_.sites + buffer * length_ + padding_;
  }
  // Word k of this thread, in one of two arrays that all threads read. Other blocks get what
  // borders on their part.
  SALTUS_BOTH void publish(int k, std::uint32_t v, int buffer) const {
    if (!is_word(k)) return;
    const int words_of_row = steps_.shape.cols / 32, w = word(k);
    if (Team::kBlocks > 1 && (w < begin_ + words_of_row || w >= end_ - words_of_row)) {
      team_.share(sites(buffer) + w, v);
    } else {
      sites(buffer)[w] = v;
    }
  }
  // The codes of sites v, word k, when all have published in that array. Threads without a word
  // read where there is one.
  SALTUS_BOTH Codes<Kind> codes(int k, std::uint32_t v, int buffer) const {
    const std::uint32_t* bits = sites(buffer);
    const int w = is_word(k) ? word(k) : end_ - 1;
    const Edges& e = edges_[k];
    if constexpr (kAligned) {
      return codes_of<Kind>(
          neighbours_up(steps_.shape, e.valid, bits, w, v, bits[w + before_], bits[w + after_]),
          e.missing, v);
    } else {
      return codes_of<Kind>(neighbours_up(steps_.shape, e, bits, w, v), e.missing, v);
    }
  }
  SALTUS_BOTH int count_of(const Codes<Kind> (&codes)[kWords], int counter) const {
    int count = 0;
    SALTUS_UNROLL
    for (int k = 0; k < kOwn; ++k) count += count_bits(counted<Kind>(codes[k], counter));
    return count;
  }

  // The place of this warp's entry in an array with one for each, and whether this lane has one.
  SALTUS_BOTH int entry() const { return team_.block() * team_.warps() + team_.warp(); }
  SALTUS_BOTH bool has_entry() const { return team_.lane() < Team::kBlocks * team_.warps(); }
  SALTUS_BOTH bool leads() const { return team_.block() == 0 && team_.warp() == 0; }

  // For votes of the team: those of one step and of the next are apart.
  SALTUS_BOTH std::uint32_t* flags(std::uint32_t turn) const {
    return memory_.flags + turn % 2 * LatticeMemory::kMostWarps;
  }

  // Writes what happened since the last record and the sums of the state. Of `done`, this thread's
  // acceptance, proposed and changed count; the rest is the same in all threads. There must have
  // been a barrier since anything was read from the memory of an earlier record.
  SALTUS_BOTH void record(int part, const LatticeRecord& done) {
    std::uint32_t counts[4] = {done.proposed, done.changed, 0, 0};
    SALTUS_UNROLL
    for (int c = 0; c < Kind::kCounters; ++c) {
      const int count = count_of(codes_, c);
      counts[2] += static_cast<std::uint32_t>(count * steps_.law.pairs[c]);
      counts[3] += static_cast<std::uint32_t>(count * steps_.law.spins[c]);
    }
    SALTUS_UNROLL
    for (int k = 0; k < 4; ++k) {
      counts[k] = team_.sum_of_warp(counts[k]);
      if (team_.lane() == 0) team_.share(counts_of(k) + entry(), counts[k]);
    }
    team_.sync();
    if (leads()) {
      SALTUS_UNROLL
      for (int k = 0; k < 4; ++k) {
        counts[k] = team_.sum_of_warp(has_entry() ? counts_of(k)[team_.lane()] : 0);
      }
      const std::uint64_t acceptance =
          sum_of_warp(team_, static_cast<std::uint64_t>(done.acceptance));
      if (team_.lane() == 0) {
        steps_.record(part, chain_) = {
            static_cast<std::int64_t>(acceptance),
            done.accepted,
            counts[0],
            counts[1],
            done.empty,
            done.moved,
            steps_.law.rest_pairs + static_cast<std::int32_t>(counts[2]),
            steps_.law.rest_spins + static_cast<std::int32_t>(counts[3])};
      }
    }
    if (std::uint32_t* kept = steps_.place(part, chain_)) write(kept);
    team_.sync();
  }
  SALTUS_BOTH void write(std::uint32_t* to) const {
    SALTUS_UNROLL
    for (int k = 0; k < kOwn; ++k) {
      if (is_word(k)) to[word(k)] = x_[k];
    }
  }

  const Team& team_;
  const LatticeSteps& steps_;
  LatticeMemory memory_;
  int chain_;
  int begin_, end_;  // words of this block
  Edges edges_[kWords];
  std::uint32_t x_[kWords];
  Codes<Kind> codes_[kWords];

 private:
  SALTUS_BOTH std::uint32_t* counts_of(int k) const {
    return memory_.counts + k * LatticeMemory::kMostWarps;
  }
  int padding_, length_, before_ = 0, after_ = 0;
};

// The state of a chain of at most 32 sites: lane i of a warp has site i, and all lanes know the
// whole state.
template <class Kind, class Team>
class SmallLattice {
 public:
  SALTUS_BOTH SmallLattice(const Team& team, const LatticeSteps& steps, int chain)
      : team_(team),
        steps_(steps),
        chain_(chain),
        edges_(edges_of(steps.shape, 0)),
        x_(steps.state(chain)[0]),
        codes_(codes(x_)) {}

 protected:
  SALTUS_BOTH bool is_site() const { return edges_.valid >> team_.lane() & 1; }
  SALTUS_BOTH Codes<Kind> codes(std::uint32_t v) const {
    return codes_of<Kind>(neighbours_up(steps_.shape, edges_, v), edges_.missing, v);
  }
  // Of this lane's site.
  SALTUS_BOTH int code(const Codes<Kind>& codes) const {
    std::uint32_t code = 0;
    SALTUS_UNROLL
    for (int b = 0; b < Kind::kPlanes; ++b) code |= (codes.plane[b] >> team_.lane() & 1) << b;
    return static_cast<int>(code);
  }
  // As LatticeWords does it; all but the acceptance are the same in all lanes.
  SALTUS_BOTH void record(int part, const LatticeRecord& done) const {
    std::int32_t pairs = steps_.law.rest_pairs, spins = steps_.law.rest_spins;
    SALTUS_UNROLL
    for (int c = 0; c < Kind::kCounters; ++c) {
      const int count = count_bits(counted<Kind>(codes_, c));
      pairs += count * steps_.law.pairs[c];
      spins += count * steps_.law.spins[c];
    }
    const auto acceptance =
        static_cast<std::int64_t>(sum_of_warp(team_, static_cast<std::uint64_t>(done.acceptance)));
    if (team_.lane() != 0) return;
    steps_.record(part, chain_) = {acceptance, done.accepted, done.proposed, done.changed,
                                   done.empty, done.moved,    pairs,         spins};
    if (std::uint32_t* kept = steps_.place(part, chain_)) *kept = x_;
  }

  const Team& team_;
  const LatticeSteps& steps_;
  int chain_;
  Edges edges_;
  std::uint32_t x_;
  Codes<Kind> codes_;
};

}  // namespace saltus::cuda
