#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "core/number_text.hpp"
#include "service/parts.hpp"

namespace saltus {
namespace {

// Standard errors between a mean and the exact one that chance does not explain: of a million
// coordinates one in a thousand runs has a normal deviate beyond six.
constexpr double kFarAway = 6;
constexpr double kEnoughDraws = 100;  // effective ones, for a standard error to be trusted

// How far the means are from the exact ones, in standard errors; 0 where there is nothing to
// compare. A standard error from few effective draws is not worth much, and counts for less.
double worst_error(const SampleResult& r) {
  double worst = 0;
  if (!r.exact || !r.exact_sampler) return worst;
  const double all = static_cast<double>(r.draws_made) * r.plan.chains;
  for (std::size_t k = 0; k < r.summaries.size(); ++k) {
    const CoordinateSummary& s = r.summaries[k];
    const double error = std::abs(s.mean - r.exact->means[static_cast<std::size_t>(r.watched[k])]);
    // A coordinate that never moved has no standard error: that of a rare event stands in for it.
    const double mcse = s.sd > 0 ? s.mcse : std::sqrt(std::max(error, 1 / all) / all);
    if (std::isnan(mcse)) continue;
    worst =
        std::max(worst, error / mcse * (s.sd > 0 ? std::min(1.0, s.ess_bulk / kEnoughDraws) : 1));
  }
  return worst;
}

std::size_t constant_coordinates(const SampleResult& r) {
  if (r.draws_made < 4) return 0;
  return static_cast<std::size_t>(std::count_if(r.summaries.begin(), r.summaries.end(),
                                                [](const auto& s) { return s.sd == 0; }));
}

}  // namespace

std::vector<std::string> sample_warnings(const SampleResult& r) {
  std::vector<std::string> list;
  if (const double worst = worst_error(r); worst > kFarAway) {
    list.push_back(
        fmt::format("the means are up to {} standard errors away from the exact answer: the chains "
                    "have missed a part of the model, which ESS and R-hat cannot show. Do not use "
                    "these draws.",
                    rounded(worst)));
  }
  if (const std::size_t constant = constant_coordinates(r); constant > 0) {
    list.push_back(fmt::format(
        "{} of {} coordinates never changed. Either the model all but fixes them, or no chain has "
        "found their other levels; they have neither ESS nor R-hat.",
        with_commas(constant), with_commas(r.summaries.size())));
  }
  if (const RunStatistics& s = r.statistics; s.still_chains > 0) {
    list.push_back(fmt::format(
        "{} of {} chains stand still: fewer than 1 % of their steps changed the state ({:.1f} % of "
        "all proposals were empty). Do not trust their means; another sampler may move them.",
        with_commas(static_cast<std::uint64_t>(s.still_chains)),
        with_commas(static_cast<std::uint64_t>(r.plan.chains)), 100 * s.empty));
  }
  std::vector<double> rhat;
  for (const CoordinateSummary& s : r.summaries) rhat.push_back(s.rhat);
  if (const double worst = largest(rhat); worst > 1.01) {
    list.push_back(
        fmt::format("R-hat is up to {:.3f}. The chains have not mixed: run longer, or "
                    "from more chains.",
                    worst));
  }
  if (r.statistics.nonfinite > 0) {
    list.push_back(
        fmt::format("{} proposals had a log p or an acceptance ratio that is not finite.",
                    with_commas(r.statistics.nonfinite)));
  }
  return list;
}

}  // namespace saltus
