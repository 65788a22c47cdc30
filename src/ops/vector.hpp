// Lanes: the vector types and the few functions that the fused passes are written in.
//
// This header is compiled once per instruction set; SALTUS_LEVEL_NAMESPACE names the copy. It
// includes no library header with inline code that the linker could share between the copies.
//
// Sums run over 16 lanes in a fixed order whatever the width of the machine's registers, and
// products are not fused with sums, so every instruction set gives the same bits.
#pragma once

#include <stdint.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace saltus::ops::SALTUS_LEVEL_NAMESPACE {

#if defined(__AVX512F__)
constexpr int kWidth = 16;
#elif defined(__AVX2__)
constexpr int kWidth = 8;
#else
constexpr int kWidth = 4;
#endif
constexpr int kParts = 16 / kWidth;  // registers that make up the 16 lanes

typedef float Float __attribute__((vector_size(4 * kWidth)));
typedef int32_t Int __attribute__((vector_size(4 * kWidth)));
typedef uint32_t Word __attribute__((vector_size(4 * kWidth)));
typedef uint16_t Half __attribute__((vector_size(2 * kWidth)));
typedef uint64_t Wide __attribute__((vector_size(4 * kWidth)));
typedef float HalfFloat __attribute__((vector_size(2 * kWidth)));  // as many as a Double holds
typedef double Double __attribute__((vector_size(4 * kWidth)));

inline Float splat(float v) {
  return Float{} + v;
}

template <class V, class T>
inline V load(const T* p) {
  V v;
  memcpy(&v, p, sizeof v);
  return v;
}
template <class V, class T>
inline void store(T* p, V v) {
  memcpy(p, &v, sizeof v);
}

inline Int lanes_from_zero() {
  Int v{};
  for (int j = 0; j < kWidth; ++j) v[j] = j;
  return v;
}

// Products of the even 32-bit lanes, 64 bits each.
inline Wide multiply_even(Word a, Word b) {
#if defined(__AVX512F__)
  return (Wide)_mm512_mul_epu32((__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
  return (Wide)_mm256_mul_epu32((__m256i)a, (__m256i)b);
#elif defined(__x86_64__)
  return (Wide)_mm_mul_epu32((__m128i)a, (__m128i)b);
#else
  const uint64_t low = 0xFFFFFFFFull;
  return ((Wide)a & low) * ((Wide)b & low);
#endif
}

inline void multiply_high_low(Word a, Word m, Word& high, Word& low) {
  const uint64_t upper = 0xFFFFFFFF00000000ull;
  const Wide even = multiply_even(a, m), odd = multiply_even((Word)((Wide)a >> 32), m);
  high = (Word)((even >> 32) | (odd & upper));
  low = (Word)((even & ~upper) | (odd << 32));
}

// Philox 4x32-10 of kWidth counters at once. Their words 2 and 3 are the stream's; see
// core/philox.hpp.
inline void philox(Word c0, Word c1, const Stream& stream, Word out[4]) {
  Word c2 = Word{} + stream.step_low, c3 = Word{} + stream.step_high_and_purpose;
  uint32_t k0 = stream.key0, k1 = stream.key1;
  const Word m0 = Word{} + 0xD2511F53u, m1 = Word{} + 0xCD9E8D57u;
#pragma GCC unroll 10
  for (int round = 0; round < 10; ++round) {
    Word high0, low0, high1, low1;
    multiply_high_low(c0, m0, high0, low0);
    multiply_high_low(c2, m1, high1, low1);
    c0 = high1 ^ c1 ^ k0;
    c1 = low1;
    c2 = high0 ^ c3 ^ k1;
    c3 = low0;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  out[0] = c0, out[1] = c1, out[2] = c2, out[3] = c3;
}

// The blocks of one chain.
inline void philox(Word blocks, const Stream& stream, Word out[4]) {
  philox(blocks, Word{} + stream.chain, stream, out);
}

// exp(-a) for a >= 0, relative error below 2e-7; 0 from a = 87 on. NaN stays NaN.
// a = -(n ln 2 + r), |r| <= ln(2)/2, with ln 2 in two parts so that r keeps its digits (Cody &
// Waite); exp(r) is a polynomial of degree 7 (its Taylor coefficients, last ones adjusted: error
// 1e-8).
inline Float exp_minus(Float a) {
  const Float magic = splat(12582912.0f);  // 1.5 * 2^23: adding it rounds to an integer
  const Float shifted = a * -1.44269504f + magic;
  const Float n = shifted - magic;
  Float r = -a - n * 0.693359375f;
  r = r - n * -2.12194440e-4f;
  Float p = r * 1.98412698e-4f + 1.38888889e-3f;
  p = p * r + 8.33333333e-3f;
  p = p * r + 4.16666667e-2f;
  p = p * r + 1.66666667e-1f;
  p = p * r + 0.5f;
  const Float e = p * (r * r) + r + 1.0f;
  const Int scale = ((Int)shifted - (0x4B400000 - 127)) << 23;
  return a >= 87.0f ? Float{} : e * (Float)scale;
}

inline Float absolute(Float v) {
  return (Float)((Int)v & 0x7FFFFFFF);
}

}  // namespace saltus::ops::SALTUS_LEVEL_NAMESPACE
