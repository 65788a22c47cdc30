// The decision of a Gibbs update of two levels. Compiled once per instruction set.
#pragma once

#include "ops/ops.hpp"
#include "ops/vector.hpp"

namespace saltus::ops::SALTUS_LEVEL_NAMESPACE {

// The lanes that take level 1, given l = logp(1) - logp(0): the likelier level, unless the
// unlikelier one, of probability e / (1 + e) with e = exp(-|l|), is drawn.
inline Int takes_one(Float l, Word word) {
  const Float e = exp_minus(absolute(l));
  // 31 random bits, so that the signed conversion serves; small u keep all of them.
  const Float u = (__builtin_convertvector((Int)(word >> 1), Float) + 0.5f) * 0x1p-31f;
  return (u * (e + 1.0f) < e) ^ (l >= 0.0f);
}

}  // namespace saltus::ops::SALTUS_LEVEL_NAMESPACE
