// Two-level discrete Langevin proposal: the specification.
#include <cmath>

#include "core/flip_law.hpp"
#include "ops/ops.hpp"
#include "ops/passes.hpp"

namespace saltus::ops::scalar {
namespace {

double logit_of(const TwoLevelLaw& law, int i, Symbol x, float score) {
  return flip_logit(double{law.half_span}, x, double{score},
                    double{law.penalty[law.uniform ? 0 : i]});
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

}  // namespace saltus::ops::scalar
