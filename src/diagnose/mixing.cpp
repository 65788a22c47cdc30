#include "saltus/diagnose/mixing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/number_text.hpp"

namespace saltus {
namespace {

constexpr double kMostRhat = 1.01;
constexpr double kEnough = 400;  // effective draws, for chance to be told from disagreement

// The R-hat that one in a thousand runs exceeds by chance, as the largest of `count` quantities,
// each with this effective sample size. The means of n = 2 chains half chains vary by chance, so
// that R-hat^2 = 1 + X / ((n - 1) ess / n) with X chi-squared of n - 1 degrees of freedom; its
// quantile is Wilson and Hilferty's, with the bound sqrt(2 log(1 / p)) on the normal one.
double rhat_by_chance(double ess, int chains, std::size_t count) {
  constexpr double kRuns = 1000;
  const double halves = 2.0 * chains, df = halves - 1;
  const double normal = std::sqrt(2 * std::log(kRuns * static_cast<double>(count)));
  const double root = 1 - 2 / (9 * df) + normal * std::sqrt(2 / (9 * df));
  return std::sqrt(1 + root * root * root * halves / ess);
}

struct Extremes {
  double rhat = 0, ess = INFINITY;  // the largest and the smallest of all quantities
  bool beyond_chance = false;       // of some quantity

  void add(double its_rhat, double its_ess, int chains, std::size_t count) {
    if (std::isnan(its_rhat)) return;
    rhat = std::max(rhat, its_rhat);
    ess = std::min(ess, its_ess);
    beyond_chance |= !(its_rhat <= std::max(kMostRhat, rhat_by_chance(its_ess, chains, count)));
  }
};

}  // namespace

std::optional<Warning> mixing_warning(std::span<const CoordinateSummary> coordinates,
                                      std::span<const ObservableSummary> observables, int chains) {
  Extremes worst;
  const std::size_t count = coordinates.size() + observables.size();
  for (const CoordinateSummary& s : coordinates) worst.add(s.rhat, s.ess_bulk, chains, count);
  for (const ObservableSummary& s : observables) {
    if (!s.of_pairs) worst.add(s.rhat, s.ess, chains, count);
  }
  const bool content = worst.rhat <= kMostRhat || (worst.ess >= kEnough && !worst.beyond_chance);
  if (content) return std::nullopt;
  const std::string ess =
      std::isinf(worst.ess) ? "" : " and the effective sample size down to " + rounded(worst.ess);
  return Warning{"mixing", fmt::format("R-hat is up to {:.3f}{}: the chains disagree. Either they "
                                       "need a longer run, or they stay in different modes.",
                                       worst.rhat, ess)};
}

}  // namespace saltus
