// The discrete Langevin proposal, for two levels and for any number of them: the specification.
#include <algorithm>
#include <cmath>

#include "core/count_below.hpp"
#include "core/flip_law.hpp"
#include "ops/few_levels.hpp"
#include "ops/ops.hpp"
#include "ops/passes.hpp"

namespace saltus::ops::scalar {
namespace {

double logit_of(const TwoLevelLaw& law, int i, Symbol x, float score) {
  return flip_logit(double{law.pull}, x, double{score}, double{law.penalty[law.uniform ? 0 : i]});
}

}  // namespace

Proposed propose_two_level(const TwoLevelLaw& law, int n, const Symbol* x, const float* score,
                           Symbol* y, const Stream& stream, bool want_log_q) {
  Proposed out;
  for (int i = 0; i < n; ++i) {
    const double l = logit_of(law, i, x[i], score[i]);
    const bool flip = flips(l, stream.word(static_cast<std::uint32_t>(i)));
    y[i] = flip ? static_cast<Symbol>(1 - x[i]) : x[i];
    out.changes += flip;
    out.finite = out.finite && !std::isnan(l);
    if (want_log_q) out.log_q += log_q_of(l, flip);
  }
  return out;
}

double log_q_two_level(const TwoLevelLaw& law, int n, const Symbol* from, const float* score,
                       const Symbol* to) {
  double log_q = 0;
  for (int i = 0; i < n; ++i) {
    log_q += log_q_of(logit_of(law, i, from[i], score[i]), from[i] != to[i]);
  }
  return log_q;
}

FlipRule flip_rule(const TwoLevelLaw& law, Symbol x, float score) {
  const double l = logit_of(law, 0, x, score);
  const auto below = [&](uint32_t bits) { return flips(l, bits << 1) != (l >= 0); };
  return {count_below(below), l >= 0};
}

namespace {

double logit(const LevelsLaw& law, int i, int x, const float* score, int k) {
  const double penalty{law.penalty[law.uniform ? 0 : i]};
  const double step = k - x;
  if (k == x) return 0;
  if (law.domain->kind() == Domain::Kind::ordered) {
    return double{law.pull} * double{score[i]} * step - penalty * step * step;
  }
  const float* of_level = score + law.domain->score_begin(i);
  return (double{of_level[k]} - double{of_level[x]}) * double{law.pull} - penalty;
}

// log of the sum over the coordinate's candidate levels of exp(logit).
double log_normaliser(const LevelsLaw& law, int i, int x, const float* score) {
  const LevelRange range = candidate_levels(law, i, x);
  double top = -INFINITY, sum = 0;
  for (int k = range.first; k <= range.last; ++k) {
    const double a = logit(law, i, x, score, k);
    if (std::isnan(a)) return NAN;
    top = std::max(top, a);
  }
  for (int k = range.first; k <= range.last; ++k) {
    sum += std::exp(logit(law, i, x, score, k) - top);
  }
  return top + std::log(sum);
}

}  // namespace

Proposed propose_levels(const LevelsLaw& law, const Symbol* x, const float* score, Symbol* y,
                        const Stream& stream, bool want_log_q, float*) {
  Proposed out;
  for (int i = 0; i < law.domain->dim(); ++i) {
    const LevelRange range = candidate_levels(law, i, x[i]);
    const double norm = log_normaliser(law, i, x[i], score);
    const double u = ((stream.word(static_cast<std::uint32_t>(i)) >> 1) + 0.5) * 0x1p-31;
    // The other levels in order, staying last, so that small probabilities of a move keep their
    // digits.
    double below = 0;
    int k = x[i];
    for (int c = range.first; c <= range.last && !std::isnan(norm); ++c) {
      if (c == x[i]) continue;
      below += std::exp(logit(law, i, x[i], score, c) - norm);
      if (u < below) {
        k = c;
        break;
      }
    }
    y[i] = static_cast<Symbol>(k);
    out.changes += y[i] != x[i];
    out.finite = out.finite && !std::isnan(norm);
    if (want_log_q) out.log_q += logit(law, i, x[i], score, k) - norm;
  }
  return out;
}

double log_q_levels(const LevelsLaw& law, const Symbol* from, const float* score, const Symbol* to,
                    float*) {
  double log_q = 0;
  for (int i = 0; i < law.domain->dim(); ++i) {
    log_q += logit(law, i, from[i], score, to[i]) - log_normaliser(law, i, from[i], score);
  }
  return log_q;
}

}  // namespace saltus::ops::scalar
