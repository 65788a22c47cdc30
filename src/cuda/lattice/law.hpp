// The law of a sampler on an Ising lattice as tables of integers, made on the host in double
// precision; what decides a step on a GPU is read from them alone.
//
// DMALA: log p is quadratic in the spins without a diagonal, so that the ratio of the Metropolis
// test needs no energy:
//   log r = F(x) - F(y),   F = sum over sites of softplus(l_i),
// l_i being the log-odds that site i flips. The law of a site has few classes: F is a sum of
// integers, exact in any order.
#pragma once

#include <algorithm>
#include <cmath>

#include "core/count_below.hpp"
#include "core/flip_law.hpp"
#include "cuda/lattice/planes.hpp"
#include "ops/ops.hpp"
#include "saltus/target/ising_lattice.hpp"

namespace saltus::cuda {

struct LatticeLaw {
  static constexpr int kMostCodes = 32, kMostCounters = 17;
  // By code: the unlikelier of flip and stay happens when the coordinate's word is below
  // 2^32 - minus_threshold, and never when that is 0.
  std::uint32_t minus_threshold[kMostCodes];
  std::uint32_t inverted, never;        // sets of codes: the likelier is the flip; never
  std::int64_t softplus[kMostCodes];    // by code, times scale
  std::int64_t weight[kMostCounters];   // of the counters in F - rest, times scale
  std::int32_t pairs[kMostCounters];    // in the sum of s_i (sum of neighbours): each edge twice
  std::int32_t spins[kMostCounters];    // in the sum of s_i; without a field 0
  std::int32_t rest_pairs, rest_spins;  // of a lattice whose counters are all 0
  double scale;                         // of F, and of log u beside it
};

enum class LatticeSampler { dmala, dula, gibbs };

// What decides: log p = beta (a s'Ws + b sum s) and, of DMALA and DULA, the penalty of a flip.
struct LatticeParameters {
  LatticeSampler sampler = LatticeSampler::dmala;
  double a = 0, b = 0;
  float penalty = 0;
  double beta = 1;
  // The kinds of lattices without a field do not know a spin from its opposite, as Gibbs must: its
  // words decide about levels, not about flips.
  bool field() const { return b != 0 || sampler == LatticeSampler::gibbs; }
  bool operator==(const LatticeParameters&) const = default;
};

namespace law_detail {

struct Class {
  int sum;  // of the neighbours
  bool up;
};

// Flip log-odds in double precision.
inline double logit(const LatticeParameters& p, const Class& c) {
  return flip_logit(1, c.up, p.beta * (2 * p.a * c.sum + p.b), double{p.penalty});
}

// As the samplers of the host decide, whose score is in single precision. Products of single
// numbers are exact in double: one rounding each.
inline ops::FlipRule rule(const LatticeParameters& p, const Class& c) {
  const double product = double{static_cast<float>(2 * p.a)} * c.sum;
  const double model = double{static_cast<float>(product)} + double{static_cast<float>(p.b)};
  const double score = double{static_cast<float>(p.beta)} * double{static_cast<float>(model)};
  const ops::TwoLevelLaw law{1, &p.penalty, true};
  return ops::active().flip_rule(law, c.up, static_cast<float>(score));
}

// As Gibbs decides on the host: at beta = 1 the word decides whether the spin is up, at others
// whether it flips.
inline ops::FlipRule gibbs_rule(const LatticeParameters& p, const Class& c) {
  if (p.beta == 1) return {IsingLattice::gibbs_threshold(p.a, p.b, c.sum), c.up};
  const double change = (c.up ? -2 : 2) * (2 * p.a * c.sum + p.b);
  const double flips = 1 / (1 + std::exp(-(p.beta * change)));
  return {count_below([&](std::uint32_t word) { return (word + 0.5) * 0x1p-31 < flips; }), false};
}

inline void set_rule(LatticeLaw& law, int code, ops::FlipRule rule) {
  law.minus_threshold[code] = 0u - 2 * rule.unlikely;
  if (law.minus_threshold[code] == 0) {  // no word, or all of them
    law.never |= 1u << code;
    rule.likely_flips ^= rule.unlikely != 0;
  }
  law.inverted = (law.inverted & ~(1u << code)) | std::uint32_t{rule.likely_flips} << code;
}

// Units of F: 2^-40, larger ones where sums could overflow.
inline double scale(const LatticeParameters& p, int sites) {
  const double most = softplus(p.beta * (8 * std::abs(p.a) + std::abs(p.b)) + 1);
  double scale = 0x1p40;
  while (scale * most * sites > 0x1p60) scale /= 2;
  return scale;
}

template <class Kind>
LatticeLaw make(const LatticeShape& shape, const LatticeParameters& p) {
  LatticeLaw law{};
  law.scale = scale(p, shape.sites);
  if (p.sampler == LatticeSampler::gibbs) law.inverted = Kind::kUpCodes;
  std::int64_t of[2][Kind::kTop + 1];  // softplus by spin and height
  const auto sum = [](int height) { return Kind::sum_of_neighbours(height); };
  for (const int up : {0, 1}) {
    for (int h = 0; h <= Kind::kTop; ++h) {
      const Class c{sum(h), up != 0};
      const int code = Kind::code(h, up != 0);
      of[up][h] = std::llround(softplus(logit(p, c)) * law.scale);
      law.softplus[code] = of[up][h];
      if (!Kind::kField && !up) continue;  // the same code again
      set_rule(law, code, p.sampler == LatticeSampler::gibbs ? gibbs_rule(p, c) : rule(p, c));
    }
  }
  constexpr int kTop = Kind::kTop;
  if constexpr (Kind::kField) {
    for (int h = 0; h <= kTop; ++h) {  // sites of a height, and those of them that are up
      if (h > 0) {
        law.weight[h - 1] = of[0][h] - of[0][0];
        law.pairs[h - 1] = sum(0) - sum(h);
      }
      law.weight[kTop + h] = of[1][h] - of[0][h];
      law.pairs[kTop + h] = 2 * sum(h);
      law.spins[kTop + h] = 2;
    }
    law.rest_pairs = -shape.sites * sum(0);
    law.rest_spins = -shape.sites;
  } else {
    for (int h = 0; h < kTop; ++h) {
      law.weight[h] = of[1][h] - of[1][kTop];
      law.pairs[h] = sum(h) - sum(kTop);
    }
    law.rest_pairs = shape.sites * sum(kTop);
  }
  return law;
}

}  // namespace law_detail

// Calls f with the kind of a lattice.
template <class F>
auto with_kind(const LatticeShape& shape, bool field, const F& f) {
  if (shape.all_have_four()) {
    return field ? f(LatticeKind<true, true>{}) : f(LatticeKind<true, false>{});
  }
  return field ? f(LatticeKind<false, true>{}) : f(LatticeKind<false, false>{});
}

inline LatticeLaw lattice_law(const LatticeShape& shape, const LatticeParameters& p) {
  return with_kind(shape, p.field(),
                   [&](auto kind) { return law_detail::make<decltype(kind)>(shape, p); });
}

}  // namespace saltus::cuda
