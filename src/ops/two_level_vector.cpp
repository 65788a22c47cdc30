// Two-level discrete Langevin proposal in lanes. Compiled once per instruction set.
#include "core/count_below.hpp"
#include "ops/log_q.hpp"
#include "ops/ops.hpp"
#include "ops/passes.hpp"
#include "ops/vector.hpp"

namespace saltus::ops::SALTUS_LEVEL_NAMESPACE {
namespace {

// A coordinate takes its likelier outcome (flip if l >= 0, stay otherwise) with probability
// 1/(1 + e), e = exp(-|l|), and the other one with e/(1 + e). So
//   log q = -sum_{unlikelier outcomes} |l_i| - log prod_i (1 + e_i),
// with factors in [1, 2].
using FlipLogQ = LogQ<15>;

inline Float flip_logit(const TwoLevelLaw& law, Int x, Float score, Float penalty) {
  const Float drift = score * law.pull;
  return (Float)((Int)drift ^ (x << 31)) - penalty;  // the sign of the drift is that of 1 - 2x
}

// Whether the unlikelier outcome happens: e = exp(-|l|), and 31 random bits, so that the signed
// conversion serves; small u keep all of them.
inline Int unlikely_outcome(Float e, Word bits) {
  const Float u = (__builtin_convertvector((Int)bits, Float) + 0.5f) * 0x1p-31f;
  return u * (e + 1.0f) < e;
}

inline Int to_int(Half h) {
  return __builtin_convertvector(h, Int);
}

// The penalties of a register of coordinates. Beyond the end of the row (`left` coordinates from
// here) it is so large that nothing changes there and nothing is added to log q.
template <bool kLast>
inline Float penalties(const TwoLevelLaw& law, int at, int left) {
  const Float p = law.uniform ? splat(*law.penalty) : load<Float>(law.penalty + at);
  if constexpr (!kLast) return p;
  return lanes_from_zero() < left ? p : splat(1000.0f);
}

template <bool kLast>
inline Float scores(const float* score, int left) {
  const Float g = load<Float>(score);
  if constexpr (!kLast) return g;
  return lanes_from_zero() < left ? g : Float{};
}

struct ProposeState {
  FlipLogQ log_q;
  Int changes[kParts] = {};
  Int not_a_number[kParts] = {};
};

// 64 coordinates from `begin` on: registers hold coordinates 16 w + part * kWidth + lane, w = 0..3.
template <bool kWantLogQ, bool kLast>
inline void propose_group(const TwoLevelLaw& law, int begin, int n, const Symbol* x,
                          const float* score, Symbol* y, const Stream& stream,
                          ProposeState& state) {
  for (int part = 0; part < kParts; ++part) {
    Word random[4];
    philox((Word)lanes_from_zero() + static_cast<uint32_t>(begin / 4 + part * kWidth), stream,
           random);
#pragma GCC unroll 4
    for (int w = 0; w < 4; ++w) {
      const int at = begin + 16 * w + part * kWidth;
      if (kLast && at >= n) break;
      const Int xi = to_int(load<Half>(x + at));
      const Float l =
          flip_logit(law, xi, scores<kLast>(score + at, n - at), penalties<kLast>(law, at, n - at));
      const Float size = absolute(l);
      const Float e = exp_minus(size);
      const Int unlikely = unlikely_outcome(e, random[w] >> 1);
      const Int flip = unlikely ^ (l >= 0.0f);
      store(y + at, __builtin_convertvector(xi ^ (flip & 1), Half));
      state.changes[part] -= flip;
      state.not_a_number[part] |= (l != l);
      if constexpr (kWantLogQ) state.log_q.add(part, unlikely ? size : Float{}, e + 1.0f);
    }
  }
  if constexpr (kWantLogQ) state.log_q.end_group();
}

template <bool kWantLogQ>
Proposed propose(const TwoLevelLaw& law, int n, const Symbol* x, const float* score, Symbol* y,
                 const Stream& stream) {
  ProposeState state;
  const int whole = n / kGroup * kGroup;
  for (int i = 0; i < whole; i += kGroup) {
    propose_group<kWantLogQ, false>(law, i, n, x, score, y, stream, state);
  }
  if (whole < n) propose_group<kWantLogQ, true>(law, whole, n, x, score, y, stream, state);
  Proposed out;
  if constexpr (kWantLogQ) out.log_q = state.log_q.total();
  for (int p = 0; p < kParts; ++p) {
    for (int j = 0; j < kWidth; ++j) {
      out.changes += static_cast<uint32_t>(state.changes[p][j]);
      out.finite = out.finite && state.not_a_number[p][j] == 0;
    }
  }
  return out;
}

template <bool kLast>
inline void log_q_group(const TwoLevelLaw& law, int begin, int n, const Symbol* from,
                        const float* score, const Symbol* to, FlipLogQ& log_q) {
  for (int part = 0; part < kParts; ++part) {
#pragma GCC unroll 4
    for (int w = 0; w < 4; ++w) {
      const int at = begin + 16 * w + part * kWidth;
      if (kLast && at >= n) break;
      const Int xi = to_int(load<Half>(from + at));
      const Float l =
          flip_logit(law, xi, scores<kLast>(score + at, n - at), penalties<kLast>(law, at, n - at));
      const Float size = absolute(l);
      const Int flip = xi != to_int(load<Half>(to + at));
      Int unlikely = flip ^ (l >= 0.0f);
      if constexpr (kLast) unlikely &= lanes_from_zero() < n - at;
      log_q.add(part, unlikely ? size : Float{}, exp_minus(size) + 1.0f);
    }
  }
  log_q.end_group();
}

}  // namespace

Proposed propose_two_level(const TwoLevelLaw& law, int n, const Symbol* x, const float* score,
                           Symbol* y, const Stream& stream, bool want_log_q) {
  return want_log_q ? propose<true>(law, n, x, score, y, stream)
                    : propose<false>(law, n, x, score, y, stream);
}

double log_q_two_level(const TwoLevelLaw& law, int n, const Symbol* from, const float* score,
                       const Symbol* to) {
  FlipLogQ log_q;
  const int whole = n / kGroup * kGroup;
  for (int i = 0; i < whole; i += kGroup) log_q_group<false>(law, i, n, from, score, to, log_q);
  if (whole < n) log_q_group<true>(law, whole, n, from, score, to, log_q);
  return log_q.total();
}

FlipRule flip_rule(const TwoLevelLaw& law, Symbol x, float score) {
  const Float l = flip_logit(law, Int{} + x, splat(score), splat(*law.penalty));
  const Float e = exp_minus(absolute(l));
  // A type of this instruction set, so that its copy of count_below is not shared.
  const auto below = [&](uint32_t bits) { return unlikely_outcome(e, Word{} + bits)[0] != 0; };
  return {count_below(below), l[0] >= 0.0f};
}

}  // namespace saltus::ops::SALTUS_LEVEL_NAMESPACE
