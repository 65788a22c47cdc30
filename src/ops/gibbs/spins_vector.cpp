// Heat-bath sweeps of spins with small whole couplings. Compiled once per instruction set; all
// decisions compare whole numbers, so every one makes those of the specification.
//
// Neighbours are added up bit by bit, for all words of a site at once; then the sums of 64 chains
// become bytes, a byte for each, and are compared with random ones.
#include "ops/gibbs/byte_lanes.hpp"
#include "ops/gibbs/chain_blocks.hpp"
#include "ops/passes.hpp"

namespace saltus::ops::SALTUS_LEVEL_NAMESPACE {
namespace {

// The words of a site, in a register of at least two: its logic has instructions of three operands.
template <unsigned kWords>
struct WordsOf {
  typedef uint64_t Type __attribute__((vector_size(kWords == 4 ? 32 : 16)));
};

// The upper bit of a + b + c, with a and b complemented where `kFlip`.
template <bool kFlip, class Words>
inline Words upper_bit(Words a, Words b, Words c) {
#if defined(__AVX512VL__)
  constexpr int kTable = kFlip ? 0x2B : 0xE8;
  if constexpr (sizeof(Words) == 16) {
    return (Words)_mm_ternarylogic_epi64((__m128i)a, (__m128i)b, (__m128i)c, kTable);
  } else {
    return (Words)_mm256_ternarylogic_epi64((__m256i)a, (__m256i)b, (__m256i)c, kTable);
  }
#else
  return kFlip ? (c & ~(a & b)) | ~(a | b) : (c & (a | b)) | (a & b);
#endif
}

// Counts by bits: plane k has bit k of each chain's count.
template <unsigned kWords, unsigned kPlanes>
class Counts {
 public:
  // Counts those that are +1, or -1 where `kFlip`.
  template <bool kFlip>
  void add(const uint64_t* spins, const uint32_t* entries, int blocks) {
    for (; blocks >= 2; blocks -= 2, entries += 2 * kSpinBlock) {
      const Words a = add_block<kFlip>(spins, entries);
      const Words b = add_block<kFlip>(spins, entries + kSpinBlock);
      carry(3, full_add(plane_[2], a, b));
    }
    if (blocks) carry(2, add_block<kFlip>(spins, entries));
  }
  void store_to(uint64_t* to) const {
    for (unsigned k = 0; k < kPlanes; ++k) memcpy(to + k * kWords, &plane_[k], 8 * kWords);
  }

 private:
  using Words = typename WordsOf<kWords>::Type;

  // The sum keeps its lower bit; returns the upper one. Flipping both a and b leaves the lower bit
  // as it is.
  template <bool kFlip = false>
  static Words full_add(Words& sum, Words a, Words b) {
    const Words upper = upper_bit<kFlip>(a, b, sum);
    sum = sum ^ a ^ b;
    return upper;
  }
  // Returns what is carried to plane 2.
  template <bool kFlip>
  Words add_block(const uint64_t* spins, const uint32_t* entry) {
    const auto at = [&](int e) {
      if constexpr (kWords == 1) return Words{spins[entry[e]]};
      return load<Words>(spins + entry[e]);
    };
    const Words a = full_add<kFlip>(plane_[0], at(0), at(1));
    const Words b = full_add<kFlip>(plane_[0], at(2), at(3));
    return full_add(plane_[1], a, b);
  }
  void carry(unsigned from, Words bit) {
#pragma GCC unroll 16
    for (unsigned k = from; k < kPlanes; ++k) {
      const Words both = plane_[k] & bit;
      plane_[k] ^= bit;
      bit = both;
    }
  }

  Words plane_[kPlanes]{};
};

// Words of four blocks of chains, 32 bits each, to the bytes of four updates: byte u of word p
// becomes byte p of word u.
inline void transpose(const Word in[4], Word out[4]) {
  const uint32_t even = 0x00FF00FFu, low = 0x0000FFFFu;
  const Word a = (in[0] & even) | (in[1] << 8 & ~even), b = (in[0] >> 8 & even) | (in[1] & ~even);
  const Word c = (in[2] & even) | (in[3] << 8 & ~even), d = (in[2] >> 8 & even) | (in[3] & ~even);
  out[0] = (a & low) | c << 16, out[1] = (b & low) | d << 16;
  out[2] = a >> 16 | (c & ~low), out[3] = b >> 16 | (d & ~low);
}

// The random bytes of 16 updates from a block of each chain.
inline void random_bytes(const ChainBlocks& chains, uint32_t block, Bytes64 out[16]) {
  for (int q = 0; q < kParts; ++q) {
    Word words[4][4];  // by 16 chains, and by word
    for (int p = 0; p < 4; ++p) chains.words(block, p * kParts + q, words[p]);
#pragma GCC unroll 4
    for (int w = 0; w < 4; ++w) {
      const Word in[4] = {words[0][w], words[1][w], words[2][w], words[3][w]};
      Word bytes[4];
      transpose(in, bytes);
      for (int u = 0; u < 4; ++u) out[4 * w + u].part[q] = (Bytes)bytes[u];
    }
  }
}

// The upper 8 bits of the thresholds, by |f|.
class UpperBits {
 public:
  explicit UpperBits(const SpinOdds& odds) {
    for (int f = 0; f <= odds.most && f <= kMostInByte; ++f) {
      table_[f] = static_cast<uint8_t>(odds.unlikely[f] >> 32);
      if (table_[f]) parts_ = f / 16 + 1;
    }
  }
  Bytes64 of(const Bytes64& f) const {
    return in_parts([&](int q) { return of(f.part[q]); });
  }

 private:
#if defined(__AVX512BW__) || defined(__AVX2__)
  // Sixteen entries at a time; the instruction gives 0 where the upper bit of an index is set, as
  // the saturating sum sets it for those of other parts.
  Bytes of(Bytes f) const {
    Bytes found{};
    for (int part = 0; part < parts_; ++part) {
      const Bytes at = f - static_cast<uint8_t>(16 * part);
#if defined(__AVX512BW__)
      const __m512i index = _mm512_adds_epu8((__m512i)at, _mm512_set1_epi8(0x70));
      const __m512i table =
          _mm512_broadcast_i32x4(_mm_load_si128((const __m128i*)(table_ + 16 * part)));
      found |= (Bytes)_mm512_shuffle_epi8(table, index);
#else
      const __m256i index = _mm256_adds_epu8((__m256i)at, _mm256_set1_epi8(0x70));
      const __m256i table =
          _mm256_broadcastsi128_si256(_mm_load_si128((const __m128i*)(table_ + 16 * part)));
      found |= (Bytes)_mm256_shuffle_epi8(table, index);
#endif
    }
    return found;
  }
#else
  Bytes of(Bytes f) const {
    uint8_t sizes[kBytes], found[kBytes];
    store(sizes, f);
    for (int j = 0; j < kBytes; ++j) found[j] = table_[sizes[j]];
    return load<Bytes>(found);
  }
#endif

  alignas(16) uint8_t table_[kMostInByte + 1] = {};
  int parts_ = 1;
};

// Adds up bytes of either sign in 16 bits; 256 sums of 127 fit.
class Gains {
 public:
  void add(const Bytes64& v) {
    for (int q = 0; q < kParts; ++q) {
      even_[q] += (Sums)((Sums)v.part[q] << 8) >> 8;
      odd_[q] += (Sums)v.part[q] >> 8;
    }
    if (++count_ == 256) flush();
  }
  // One chain.
  void add(int lane, int f) { total_[lane] += f; }
  // By chain.
  void add_to(int32_t* gain) {
    flush();
    for (int j = 0; j < kSpinChains; ++j) gain[chain_of_lane(j)] += total_[j];
  }

 private:
  typedef int16_t Sums __attribute__((vector_size(kBytes)));  // of every other byte

  void flush() {
    for (int q = 0; q < kParts; ++q) {
      for (int j = 0; j < kBytes / 2; ++j) {
        total_[q * kBytes + 2 * j] += even_[q][j];
        total_[q * kBytes + 2 * j + 1] += odd_[q][j];
      }
      even_[q] = odd_[q] = Sums{};
    }
    count_ = 0;
  }

  Sums even_[kParts] = {}, odd_[kParts] = {};
  int32_t total_[kSpinChains] = {};
  int count_ = 0;
};

// The further words of updates that their bytes do not decide.
class Refinement {
 public:
  // Makes ready what most chains will need of the run that begins with update t.
  void begin_run(const ChainBlocks& chains, uint32_t t, uint32_t updates) {
    memset(used_, 0, sizeof used_);
    const uint32_t expected = (updates < kRefineRun ? updates : kRefineRun) / 256;
    ready_ = 4 * (expected / 2 + 1);
    for (uint32_t b = 0; b < ready_ / 4; ++b) {
      for (int r = 0; r < ChainBlocks::kRegisters; ++r) {
        Word words[4];
        chains.words(kRefineBlocks + refine_word(t, 0) / 4 + b, r, words);
        for (uint32_t w = 0; w < 4; ++w) store(word_[4 * b + w] + r * kWidth, words[w]);
      }
    }
  }
  uint32_t next(const ChainBlocks& chains, uint32_t t, int lane) {
    const int c = chain_of_lane(lane);
    const uint32_t k = used_[c]++;
    return k < ready_ ? word_[k][c] : compute(chains, refine_word(t, k), c);
  }

 private:
  __attribute__((noinline)) static uint32_t compute(const ChainBlocks& chains, uint32_t w, int c) {
    return chains.word(kRefineBlocks + w / 4, static_cast<uint32_t>(c), w % 4);
  }

  static constexpr uint32_t kMostReady = 4 * (kRefineRun / 512 + 1);
  uint32_t word_[kMostReady][kSpinChains];
  uint16_t used_[kSpinChains];
  uint32_t ready_ = 0;
};

// 64 chains in a sweep: a word of each site.
class Group {
 public:
  void start(const Stream& stream, int g) {
    chains_.start(stream, static_cast<uint32_t>(g * kSpinChains));
  }

  void begin_update(uint32_t t, uint32_t count) {
    if (t % kRefineRun == 0) refinement_.begin_run(chains_, t, count - t);
    if (t % 16 == 0) random_bytes(chains_, t / 16, random_);
  }

  // The new spins of a site; `stride` words lie between the planes of its counts.
  uint64_t draw(const SpinSite& site, const UpperBits& upper, const SpinOdds& odds, uint64_t before,
                const uint64_t* planes, unsigned stride, uint32_t t) {
    Bytes64 f = splat_byte(static_cast<uint8_t>(site.base)), weight = splat_byte(2);
    // With the entries that fill up blocks there may be more than 127, but plane 7 would add
    // multiples of 256, which bytes leave out.
    const int entries = kSpinBlock * (site.plus + site.minus);
    for (int left = entries < kMostInByte ? entries : kMostInByte; left > 0; left /= 2) {
      f = add_where(*planes, f, weight);
      weight = in_parts([&](int q) { return weight.part[q] + weight.part[q]; });
      planes += stride;
    }
    const uint64_t below = negative(f);
    const Bytes64 size = negate_where(below, f), threshold = upper.of(size);
    const Bytes64& random = random_[t % 16];
    uint64_t unlikely = less(random, threshold);
    const uint64_t open = equal(random, threshold);
    if (open) unlikely |= refine(open, size, odds, t);
    const uint64_t up = unlikely ^ ~below;
    gains_.add(zero_unless(up ^ before, negate_where(~up, f)));
    return up;
  }

  // The same where the field may not fit in a byte: chains one by one.
  uint64_t draw_wide(const SpinSite& site, const SpinOdds& odds, uint64_t before,
                     const uint64_t* planes, unsigned stride, unsigned count, uint32_t t) {
    uint8_t random[kSpinChains];
    memcpy(random, &random_[t % 16], sizeof random);
    uint64_t drawn = 0;
    for (int j = 0; j < kSpinChains; ++j) {
      int f = site.base;
      for (unsigned k = 0; k < count; ++k) {
        f += static_cast<int>(planes[k * stride] >> j & 1) << (k + 1);
      }
      const uint64_t threshold = odds.unlikely[f < 0 ? -f : f];
      bool unlikely = random[j] < threshold >> 32;
      if (random[j] == threshold >> 32) {
        unlikely = refinement_.next(chains_, t, j) < static_cast<uint32_t>(threshold);
      }
      const bool up = unlikely != (f >= 0);
      if (up != (before >> j & 1)) gains_.add(j, up ? f : -f);
      drawn |= uint64_t{up} << j;
    }
    return drawn;
  }

  void add_gains(int32_t* gain) { gains_.add_to(gain); }

 private:
  // Decides the chains in `open`, whose bytes equal the upper 8 bits: those that draw the
  // unlikelier level.
  uint64_t refine(uint64_t open, const Bytes64& size, const SpinOdds& odds, uint32_t t) {
    uint8_t sizes[kSpinChains];
    memcpy(sizes, &size, sizeof sizes);
    uint64_t unlikely = 0;
    for (; open; open &= open - 1) {
      const int j = __builtin_ctzll(open);
      const auto lower = static_cast<uint32_t>(odds.unlikely[sizes[j]]);
      unlikely |= uint64_t{refinement_.next(chains_, t, j) < lower} << j;
    }
    return unlikely;
  }

  ChainBlocks chains_;
  Refinement refinement_;
  Bytes64 random_[16];
  Gains gains_;
};

template <unsigned kWords>
class Sweep {
 public:
  Sweep(const SpinGraph& graph, const SpinOdds& odds, uint64_t* spins, int groups)
      : graph_(graph), odds_(odds), upper_(odds), spins_(spins), groups_(groups) {}

  void update(Group* group, int32_t i, uint32_t t) {
    const SpinSite& site = graph_.site[i];
    uint64_t* here = spins_ + int64_t{i} * kWords;
    if (site.most > kMostInByte) return update_wide(group, site, here, t);
    uint64_t planes[7 * kWords];
    count<7>(site, planes);
    for (int g = 0; g < groups_; ++g) {
      here[g] = group[g].draw(site, upper_, odds_, here[g], planes + g, kWords, t);
    }
  }

 private:
  template <unsigned kPlanes>
  void count(const SpinSite& site, uint64_t* planes) const {
    const uint32_t* entries = graph_.entries(site);
    Counts<kWords, kPlanes> counts;
    counts.template add<false>(spins_, entries, site.plus);
    counts.template add<true>(spins_, entries + kSpinBlock * site.plus, site.minus);
    counts.store_to(planes);
  }
  __attribute__((noinline)) void update_wide(Group* group, const SpinSite& site, uint64_t* here,
                                             uint32_t t) {
    constexpr unsigned kPlanes = 16;
    uint64_t planes[kPlanes * kWords];
    count<kPlanes>(site, planes);
    for (int g = 0; g < groups_; ++g) {
      here[g] = group[g].draw_wide(site, odds_, here[g], planes + g, kWords, kPlanes, t);
    }
  }

  const SpinGraph& graph_;
  const SpinOdds& odds_;
  UpperBits upper_;
  uint64_t* spins_;
  int groups_;
};

template <unsigned kWords>
void sweep(const SpinGraph& graph, const SpinOdds& odds, uint64_t* spins, const int32_t* order,
           int count, const Stream& first, int groups, int32_t* gain) {
  Group group[kWords];
  for (int g = 0; g < groups; ++g) group[g].start(first, g);
  Sweep<kWords> all(graph, odds, spins, groups);
  for (int t = 0; t < count; ++t) {
    for (int g = 0; g < groups; ++g)
      group[g].begin_update(static_cast<uint32_t>(t), static_cast<uint32_t>(count));
    all.update(group, order[t], static_cast<uint32_t>(t));
  }
  for (int g = 0; g < groups; ++g) group[g].add_gains(gain + g * kSpinChains);
}

}  // namespace

void gibbs_spins(const SpinGraph& graph, const SpinOdds& odds, uint64_t* spins,
                 const int32_t* order, int count, const Stream& first, int groups, int32_t* gain) {
  const auto run = graph.words == 1 ? sweep<1> : graph.words == 2 ? sweep<2> : sweep<4>;
  run(graph, odds, spins, order, count, first, groups, gain);
}

}  // namespace saltus::ops::SALTUS_LEVEL_NAMESPACE
