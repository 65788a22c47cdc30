// Two-level discrete Langevin proposal: the specification.
#include <cmath>

#include "ops/ops.hpp"
#include "ops/passes.hpp"
#include "ops/scalar_math.hpp"

namespace saltus::ops::scalar {
namespace {

double flip_logit(const TwoLevelLaw& law, int i, Symbol x, float score) {
  const double drift = double{law.half_span} * double{score} * (x ? -1.0 : 1.0);
  return drift - double{law.penalty[law.uniform ? 0 : i]};
}

}  // namespace

Proposed propose_two_level(const TwoLevelLaw& law, int n, const Symbol* x, const float* score,
                           Symbol* y, const Stream& stream, bool want_log_q) {
  Proposed out;
  for (int i = 0; i < n; ++i) {
    const double l = flip_logit(law, i, x[i], score[i]);
    // Decided by the unlikelier of flip and stay, whose probability keeps its digits.
    const double u = ((stream.word(static_cast<std::uint32_t>(i)) >> 1) + 0.5) * 0x1p-31;
    const bool unlikely = u < sigmoid(-std::abs(l));
    const bool flip = unlikely != (l >= 0);
    y[i] = flip ? static_cast<Symbol>(1 - x[i]) : x[i];
    out.changes += flip;
    out.finite = out.finite && !std::isnan(l);
    if (want_log_q) out.log_q += (flip ? l : 0.0) - softplus(l);
  }
  return out;
}

double log_q_two_level(const TwoLevelLaw& law, int n, const Symbol* from, const float* score,
                       const Symbol* to) {
  double log_q = 0;
  for (int i = 0; i < n; ++i) {
    const double l = flip_logit(law, i, from[i], score[i]);
    log_q += (from[i] != to[i] ? l : 0.0) - softplus(l);
  }
  return log_q;
}

}  // namespace saltus::ops::scalar
