// Gibbs updates of a two-level pairwise model, sixteen chains side by side. Compiled once per
// instruction set.
//
// A coordinate's levels in the 16 chains are the bits of a number. A neighbour's weight, which the
// chains share, is added in the lanes whose bit is set.
#include "ops/gibbs/takes_one.hpp"
#include "ops/ops.hpp"
#include "ops/passes.hpp"
#include "ops/vector.hpp"

namespace saltus::ops::SALTUS_LEVEL_NAMESPACE {
namespace {

// Lanes of part p whose bits are set.
inline Int lanes_of(uint32_t bits, int p) {
  Int bit{};
  for (int j = 0; j < kWidth; ++j) bit[j] = 1 << (p * kWidth + j);
  return (bit & static_cast<int32_t>(bits)) != 0;
}

// Adds the weight in those lanes.
inline Float add_where(Float sum, uint32_t bits, [[maybe_unused]] int p, float weight) {
#if defined(__AVX512F__)
  return (Float)_mm512_mask_add_ps((__m512)sum, static_cast<__mmask16>(bits), (__m512)sum,
                                   _mm512_set1_ps(weight));
#else
  return sum + (Float)(lanes_of(bits, p) & (Int)splat(weight));
#endif
}

// One bit per lane.
inline uint32_t bits_of(Int set, int p) {
#if defined(__AVX512F__)
  return static_cast<uint32_t>(_mm512_movepi32_mask((__m512i)set)) << (p * kWidth);
#elif defined(__AVX2__)
  return static_cast<uint32_t>(_mm256_movemask_ps((__m256)set)) << (p * kWidth);
#elif defined(__x86_64__)
  return static_cast<uint32_t>(_mm_movemask_ps((__m128)set)) << (p * kWidth);
#else
  uint32_t bits = 0;
  for (int j = 0; j < kWidth; ++j) bits |= (set[j] & 1u) << (p * kWidth + j);
  return bits;
#endif
}

// The four words of one block for kWidth consecutive chains; see core/philox.hpp.
inline void words_of_chains(const Stream& stream, int p, uint32_t block, Word out[4]) {
  const Word chains = (Word)lanes_from_zero() + (stream.chain + static_cast<uint32_t>(p * kWidth));
  philox(Word{} + block, chains, stream, out);
}

constexpr int kSums =
    4;  // sums side by side, so that one addition need not wait for the one before

// Sums of the weights of the coordinates at level 1, i itself included.
inline void sparse_sums(const PairGibbs& m, int i, const uint16_t* bits, Float out[kParts]) {
  Float sum[kSums][kParts] = {};
  const int64_t begin = m.rows.begin[i], end = m.rows.begin[i + 1];
  const auto add = [&](int s, int64_t e) {
    const uint32_t neighbour = bits[m.rows.column[e]];
    for (int p = 0; p < kParts; ++p) {
      sum[s][p] = add_where(sum[s][p], neighbour, p, m.rows.weight[e]);
    }
  };
  int64_t e = begin;
  for (; e + kSums <= end; e += kSums) {
#pragma GCC unroll 4
    for (int s = 0; s < kSums; ++s) add(s, e + s);
  }
  for (; e < end; ++e) add(0, e);
  for (int p = 0; p < kParts; ++p) out[p] = (sum[0][p] + sum[1][p]) + (sum[2][p] + sum[3][p]);
}

// The same for `count` coordinates in one pass over a dense matrix.
inline void dense_sums(const PairGibbs& m, const int32_t* order, int count, const uint16_t* bits,
                       Float out[kSums][kParts]) {
  const float* weights[kSums];
  for (int k = 0; k < kSums; ++k) weights[k] = m.dense[order[k < count ? k : 0]];
  Float sum[kSums][kParts] = {};
  for (int j = 0; j < m.n; ++j) {
    const uint32_t neighbour = bits[j];
#pragma GCC unroll 4
    for (int k = 0; k < kSums; ++k) {
      for (int p = 0; p < kParts; ++p) {
        sum[k][p] = add_where(sum[k][p], neighbour, p, weights[k][j]);
      }
    }
  }
  for (int k = 0; k < kSums; ++k) {
    for (int p = 0; p < kParts; ++p) out[k][p] = sum[k][p];
  }
}

// Brings a sum up to date with a coordinate that was drawn after it was taken.
inline void correct(float weight, uint32_t before, uint32_t after, Float sum[kParts]) {
  for (int p = 0; p < kParts; ++p) {
    sum[p] = add_where(sum[p], after & ~before, p, weight);
    sum[p] = add_where(sum[p], before & ~after, p, -weight);
  }
}

inline void pack(Rows<Symbol> x, int n, uint16_t* bits) {
  for (int i = 0; i < n; ++i) bits[i] = 0;
  for (int r = 0; r < x.rows; ++r) {
    const Symbol* row = x[r];
    for (int i = 0; i < n; ++i) bits[i] = static_cast<uint16_t>(bits[i] | row[i] << r);
  }
}

inline void unpack(const uint16_t* bits, int n, Rows<Symbol> x) {
  for (int r = 0; r < x.rows; ++r) {
    Symbol* row = x[r];
    for (int i = 0; i < n; ++i) row[i] = static_cast<Symbol>(bits[i] >> r & 1);
  }
}

}  // namespace

void gibbs_pairs(const PairGibbs& m, Rows<Symbol> x, const int32_t* order, int count,
                 const Stream& stream, uint32_t first_word, uint32_t* changed, uint16_t* room) {
  pack(x, m.n, room);
  Int changes[kParts] = {};
  Word words[kParts][4] = {};
  Float sums[kSums][kParts];
  uint32_t before[kSums], after[kSums];
  for (int t = 0; t < count; ++t) {
    const uint32_t word = first_word + static_cast<uint32_t>(t);
    if (t == 0 || word % 4 == 0) {
      for (int p = 0; p < kParts; ++p) words_of_chains(stream, p, word / 4, words[p]);
    }
    const int32_t i = order[t];
    const int k = t % kSums;
    Float* sum = sums[k];
    if (!m.dense) {
      sparse_sums(m, i, room, sum);
    } else {
      if (k == 0) dense_sums(m, order + t, count - t, room, sums);
      for (int b = 0; b < k; ++b) {
        correct(m.dense[i][order[t - k + b]], before[b], after[b], sum);
      }
    }
    before[k] = room[i];
    uint32_t drawn = 0;
    for (int p = 0; p < kParts; ++p) {
      const Float others = add_where(sum[p], room[i], p, -m.diagonal[i]);
      const Int one = takes_one(splat(m.base[i]) + others * m.scale, words[p][word % 4]);
      drawn |= bits_of(one, p);
      changes[p] += one ^ lanes_of(room[i], p);
    }
    after[k] = drawn;
    room[i] = static_cast<uint16_t>(drawn);
  }
  unpack(room, m.n, x);
  for (int r = 0; r < x.rows; ++r) {
    changed[r] -= static_cast<uint32_t>(changes[r / kWidth][r % kWidth]);
  }
}

}  // namespace saltus::ops::SALTUS_LEVEL_NAMESPACE
