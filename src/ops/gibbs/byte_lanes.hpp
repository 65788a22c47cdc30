// 64 bytes side by side, and sets of them as 64 bits. Compiled once per instruction set.
#pragma once

#include "ops/ops.hpp"
#include "ops/vector.hpp"

namespace saltus::ops::SALTUS_LEVEL_NAMESPACE {

constexpr int kBytes = 4 * kWidth;  // of a register
typedef uint8_t Bytes __attribute__((vector_size(kBytes)));
typedef int8_t SignedBytes __attribute__((vector_size(kBytes)));

struct Bytes64 {
  Bytes part[kParts];
};

template <class F>
inline Bytes64 in_parts(F&& of) {
  Bytes64 out;
  for (int q = 0; q < kParts; ++q) out.part[q] = of(q);
  return out;
}

inline Bytes64 splat_byte(uint8_t v) {
  return in_parts([&](int) { return Bytes{} + v; });
}

// The set of bytes whose upper bit is set.
inline uint64_t upper_bits(Bytes v) {
#if defined(__AVX512BW__)
  return _mm512_movepi8_mask((__m512i)v);
#elif defined(__AVX2__)
  return static_cast<uint32_t>(_mm256_movemask_epi8((__m256i)v));
#elif defined(__x86_64__)
  return static_cast<uint32_t>(_mm_movemask_epi8((__m128i)v));
#else
  uint64_t bits = 0;
  for (int j = 0; j < kBytes; ++j) bits |= uint64_t{v[j]} >> 7 << j;
  return bits;
#endif
}

template <class F>
inline uint64_t set_of(F&& bytes) {
  uint64_t set = 0;
  for (int q = 0; q < kParts; ++q) set |= upper_bits(bytes(q)) << (q * kBytes);
  return set;
}

inline uint64_t negative(const Bytes64& v) {
  return set_of([&](int q) { return v.part[q]; });
}

#if defined(__AVX512BW__)

inline uint64_t less(const Bytes64& a, const Bytes64& b) {
  return _mm512_cmplt_epu8_mask((__m512i)a.part[0], (__m512i)b.part[0]);
}
inline uint64_t equal(const Bytes64& a, const Bytes64& b) {
  return _mm512_cmpeq_epu8_mask((__m512i)a.part[0], (__m512i)b.part[0]);
}
inline Bytes64 add_where(uint64_t set, const Bytes64& a, const Bytes64& b) {
  const __m512i v = (__m512i)a.part[0];
  return {{(Bytes)_mm512_mask_add_epi8(v, set, v, (__m512i)b.part[0])}};
}
inline Bytes64 negate_where(uint64_t set, const Bytes64& a) {
  const __m512i v = (__m512i)a.part[0];
  return {{(Bytes)_mm512_mask_sub_epi8(v, set, _mm512_setzero_si512(), v)}};
}
inline Bytes64 zero_unless(uint64_t set, const Bytes64& a) {
  return {{(Bytes)_mm512_maskz_mov_epi8(set, (__m512i)a.part[0])}};
}

#else

inline uint64_t less(const Bytes64& a, const Bytes64& b) {
  return set_of([&](int q) { return (Bytes)(a.part[q] < b.part[q]); });
}
inline uint64_t equal(const Bytes64& a, const Bytes64& b) {
  return set_of([&](int q) { return (Bytes)(a.part[q] == b.part[q]); });
}

// All ones in the bytes of a set, register q of them.
inline Bytes ones_where(uint64_t set, int q) {
  set >>= q * kBytes;
#if defined(__AVX2__)
  const __m256i bit = _mm256_set1_epi64x(static_cast<int64_t>(0x8040201008040201u));
  const __m256i byte_of =
      _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
  const __m256i own = _mm256_and_si256(
      _mm256_shuffle_epi8(_mm256_set1_epi32(static_cast<int32_t>(set)), byte_of), bit);
  return (Bytes)_mm256_cmpeq_epi8(own, bit);
#else
  // Eight bits to eight bytes: each byte of the product has all of them, and keeps its own.
  Wide spread{};
  for (int j = 0; j < kBytes / 8; ++j) {
    spread[j] = (set >> (8 * j) & 0xFF) * 0x0101010101010101u & 0x8040201008040201u;
  }
  return (Bytes)((Bytes)spread != 0);
#endif
}
inline Bytes64 add_where(uint64_t set, const Bytes64& a, const Bytes64& b) {
  return in_parts([&](int q) { return a.part[q] + (ones_where(set, q) & b.part[q]); });
}
inline Bytes64 negate_where(uint64_t set, const Bytes64& a) {
  return in_parts([&](int q) {
    const Bytes ones = ones_where(set, q);
    return (a.part[q] ^ ones) - ones;
  });
}
inline Bytes64 zero_unless(uint64_t set, const Bytes64& a) {
  return in_parts([&](int q) { return a.part[q] & ones_where(set, q); });
}

#endif

}  // namespace saltus::ops::SALTUS_LEVEL_NAMESPACE
