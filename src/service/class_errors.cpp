// Class probabilities against exact ones.
#include <algorithm>
#include <cmath>

#include "service/parts.hpp"

namespace saltus {

// The standard error is the larger of what the estimate and the exact probability give, with the
// effective sample size n of the class's indicator:
//   sqrt(max(p (1 - p), q (1 - q), 1/n) / n).
// A rare class that was seen once has a small standard error of its own, and one that was never
// seen has none; for the latter n is that of the coordinate or, where that never changed, the
// number of draws.
double worst_class_error(const SampleResult& r, std::size_t k, double enough) {
  const CoordinateSummary& s = r.summaries[k];
  const Domain& domain = r.target->domain();
  const double* exact =
      &r.exact->classes[static_cast<std::size_t>(domain.score_begin(r.watched[k]))];
  const double all = static_cast<double>(r.draws_made) * r.plan.chains;
  const double of_coordinate = std::isnan(s.ess_bulk) ? all : s.ess_bulk;
  double worst = 0;
  for (const ClassSummary& c : s.classes) {
    const double p = c.probability, q = exact[c.level];
    const double n = std::isnan(c.ess) ? of_coordinate : c.ess;
    const double mcse = std::sqrt(std::max({p * (1 - p), q * (1 - q), 1 / n}) / n);
    worst = std::max(worst, std::abs(p - q) / mcse * std::min(1.0, n / enough));
  }
  return worst;
}

}  // namespace saltus
