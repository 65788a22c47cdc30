// Heat-bath sweeps of spins with small whole couplings. Compiled once per instruction set; all
// decisions compare whole numbers, so every one makes those of the specification.
#include "ops/ops.hpp"
#include "ops/passes.hpp"
#include "ops/vector.hpp"

namespace saltus::ops::SALTUS_LEVEL_NAMESPACE {
namespace {

constexpr int kBytes = 4 * kWidth;  // chains of a register
typedef int8_t Spins __attribute__((vector_size(kBytes)));
typedef uint8_t Bytes __attribute__((vector_size(kBytes)));
typedef int16_t Sums __attribute__((vector_size(kBytes)));  // of every other byte

// Words of four blocks of chains, 32 bits each, to the bytes of four updates: byte u of word p
// becomes byte p of word u.
inline void transpose(const Word in[4], Word out[4]) {
  const uint32_t even = 0x00FF00FFu;
  const Word a = (in[0] & even) | (in[1] & even) << 8, b = (in[0] >> 8 & even) | (in[1] & ~even);
  const Word c = (in[2] & even) | (in[3] & even) << 8, d = (in[2] >> 8 & even) | (in[3] & ~even);
  const uint32_t low = 0xFFFFu;
  out[0] = (a & low) | c << 16, out[1] = (b & low) | d << 16;
  out[2] = a >> 16 | (c & ~low), out[3] = b >> 16 | (d & ~low);
}

// The random bytes of 16 updates, from block `block` of all chains of register q.
inline void random_bytes(const Stream& stream, int q, uint32_t block, Bytes out[16]) {
  Word words[4][4];  // by block of 16 chains, and by word
  for (int p = 0; p < 4; ++p) {
    const auto first = stream.chain + static_cast<uint32_t>(16 * p + q * kWidth);
    philox(Word{} + block, (Word)lanes_from_zero() + first, stream, words[p]);
  }
#pragma GCC unroll 4
  for (int w = 0; w < 4; ++w) {
    const Word in[4] = {words[0][w], words[1][w], words[2][w], words[3][w]};
    Word bytes[4];
    transpose(in, bytes);
    for (int u = 0; u < 4; ++u) out[4 * w + u] = (Bytes)bytes[u];
  }
}

// The upper 8 bits of the thresholds, by |f|.
class UpperBits {
 public:
  explicit UpperBits(const SpinOdds& odds) {
    for (int f = 0; f <= kMostInByte; ++f) {
      table_[f] = static_cast<uint8_t>(odds.unlikely[f] >> 32);
      if (table_[f]) parts_ = f / 16 + 1;
    }
  }
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

 private:
  alignas(16) uint8_t table_[kMostInByte + 1];
  int parts_ = 1;
};

// One bit per byte.
inline uint64_t bits_of(Spins set) {
#if defined(__AVX512BW__)
  return _mm512_movepi8_mask((__m512i)set);
#elif defined(__AVX2__)
  return static_cast<uint32_t>(_mm256_movemask_epi8((__m256i)set));
#elif defined(__x86_64__)
  return static_cast<uint32_t>(_mm_movemask_epi8((__m128i)set));
#else
  uint64_t bits = 0;
  for (int j = 0; j < kBytes; ++j) bits |= uint64_t{set[j] & 1u} << j;
  return bits;
#endif
}

// Adds up bytes of either sign in 16 bits; up to 256 sums of 127 fit.
struct Gains {
  Sums even{}, odd{};
  void add(Spins v) {
    even += (Sums)((Sums)v << 8) >> 8;
    odd += (Sums)v >> 8;
  }
  void flush(int q, int32_t* gain) {
    for (int j = 0; j < 2 * kWidth; ++j) {
      gain[chain_at(q, 2 * j)] += even[j];
      gain[chain_at(q, 2 * j + 1)] += odd[j];
    }
    even = odd = Sums{};
  }
  static int chain_at(int q, int byte) { return 16 * (byte % 4) + q * kWidth + byte / 4; }
};

// A single word of a block of one chain. (Stream::block is a function that the linker could share
// between the instruction sets.)
inline uint32_t one_word(const Stream& stream, uint32_t chain, uint32_t block, uint32_t word) {
  uint32_t c[4] = {block, chain, stream.step_low, stream.step_high_and_purpose};
  uint32_t k0 = stream.key0, k1 = stream.key1;
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = uint64_t{0xD2511F53u} * c[0], p1 = uint64_t{0xCD9E8D57u} * c[2];
    c[0] = static_cast<uint32_t>(p1 >> 32) ^ c[1] ^ k0;
    c[1] = static_cast<uint32_t>(p1);
    c[2] = static_cast<uint32_t>(p0 >> 32) ^ c[3] ^ k1;
    c[3] = static_cast<uint32_t>(p0);
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return c[word];
}

// Decides the bytes that equal the upper 8 bits, whose places are set in `open`.
inline void refine(uint64_t open, const SpinOdds& odds, Bytes size, int q, const Stream& first,
                   uint32_t update, Spins& unlikely) {
  alignas(64) uint8_t sizes[kBytes];
  store(sizes, size);
  for (; open; open &= open - 1) {
    const int byte = __builtin_ctzll(open);
    const auto lower = static_cast<uint32_t>(odds.unlikely[sizes[byte]]);
    if (lower == 0) continue;
    const auto chain = first.chain + static_cast<uint32_t>(Gains::chain_at(q, byte));
    if (one_word(first, chain, kRefineBlocks + update / 4, update % 4) < lower) unlikely[byte] = -1;
  }
}

// One spin whose field may be larger than a byte: sums in 16 bits, chains one by one.
inline void draw_wide(const SpinGraph& graph, const SpinOdds& odds, int8_t* spins, int32_t i,
                      Bytes random, int q, const Stream& first, uint32_t update, int32_t* gain) {
  Sums sums[2] = {Sums{} + graph.field[i], Sums{} + graph.field[i]};  // of even and odd bytes
  for (int64_t e = graph.begin[i]; e < graph.begin[i + 1]; ++e) {
    const Sums v = load<Sums>(spins + graph.offset[e]);
    const Sums even = (Sums)(v << 8) >> 8, odd = v >> 8;
    sums[0] += e < graph.minus[i] ? even : -even;
    sums[1] += e < graph.minus[i] ? odd : -odd;
  }
  int16_t fields[2][2 * kWidth];
  uint8_t bytes[kBytes];
  store(fields[0], sums[0]);
  store(fields[1], sums[1]);
  store(bytes, random);
  int8_t* here = spins + int64_t{i} * kSpinChains;
  for (int byte = 0; byte < kBytes; ++byte) {
    const int f = fields[byte % 2][byte / 2], chain = Gains::chain_at(q, byte);
    const uint64_t threshold = odds.unlikely[f < 0 ? -f : f];
    bool unlikely = bytes[byte] < threshold >> 32;
    if (bytes[byte] == threshold >> 32) {
      unlikely =
          one_word(first, first.chain + static_cast<uint32_t>(chain), kRefineBlocks + update / 4,
                   update % 4) < static_cast<uint32_t>(threshold);
    }
    const int drawn = unlikely != (f >= 0) ? 1 : -1;
    if (drawn != here[byte]) gain[chain] += drawn * f;
    here[byte] = static_cast<int8_t>(drawn);
  }
}

// A register of chains through all updates.
inline void sweep(const SpinGraph& graph, const SpinOdds& odds, int8_t* spins, const int32_t* order,
                  int count, const Stream& first, int q, int32_t* gain) {
  const UpperBits upper(odds);
  const auto at = [&](int32_t i) { return spins + int64_t{i} * kSpinChains; };
  Gains gains;
  Bytes random[16];
  for (int t = 0; t < count; ++t) {
    if (t % 16 == 0) random_bytes(first, q, static_cast<uint32_t>(t) / 16, random);
    if (t % 256 == 255) gains.flush(q, gain);
    const int32_t i = order[t];
    if (graph.most(i) > kMostInByte) {
      draw_wide(graph, odds, spins, i, random[t % 16], q, first, static_cast<uint32_t>(t), gain);
      continue;
    }
    Spins f = Spins{} + graph.field[i], g{};
    const uint32_t* next = graph.offset + graph.begin[i];
    const uint32_t *minus = graph.offset + graph.minus[i], *end = graph.offset + graph.begin[i + 1];
    for (; next + 3 < minus; next += 4) {
      f += load<Spins>(spins + next[0]);
      g += load<Spins>(spins + next[1]);
      f += load<Spins>(spins + next[2]);
      g += load<Spins>(spins + next[3]);
    }
    for (; next < minus; ++next) f += load<Spins>(spins + *next);
    for (; next + 3 < end; next += 4) {
      f -= load<Spins>(spins + next[0]);
      g -= load<Spins>(spins + next[1]);
      f -= load<Spins>(spins + next[2]);
      g -= load<Spins>(spins + next[3]);
    }
    for (; next < end; ++next) f -= load<Spins>(spins + *next);
    f += g;
    const Spins below = f < 0;
    const Bytes size = (Bytes)((f ^ below) - below);
    const Bytes threshold = upper.of(size), byte = random[t % 16];
    Spins unlikely = (Spins)(byte < threshold);
    const uint64_t open = bits_of((Spins)(byte == threshold));
    if (open) refine(open, odds, size, q, first, static_cast<uint32_t>(t), unlikely);
    const Spins down = unlikely ^ below;  // all ones where the spin goes down
    const Spins drawn = down | 1;
    const Spins before = load<Spins>(at(i));
    gains.add((Spins)(drawn != before) & ((f ^ down) - down));
    store(at(i), drawn);
  }
  gains.flush(q, gain);
}

}  // namespace

void gibbs_spins(const SpinGraph& graph, const SpinOdds& odds, int8_t* spins, const int32_t* order,
                 int count, const Stream& first, int32_t* gain) {
  for (int q = 0; q < kParts; ++q) {
    sweep(graph, odds, spins + q * kBytes, order, count, first, q, gain);
  }
}

}  // namespace saltus::ops::SALTUS_LEVEL_NAMESPACE
