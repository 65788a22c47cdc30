#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "core/number_text.hpp"
#include "saltus/diagnose/mixing.hpp"
#include "saltus/temper/ladder.hpp"
#include "service/parts.hpp"

namespace saltus {
namespace {

// Standard errors between a mean and the exact one that chance does not explain: of a million
// coordinates one in a thousand runs has a normal deviate beyond six.
constexpr double kFarAway = 6;
constexpr double kLeastAcceptance = 0.005;
constexpr double kFarAbove = 3;       // times the number of draws
constexpr double kEnoughDraws = 100;  // effective ones, for a standard error to be trusted

// How far the means are from the exact ones, in standard errors; 0 where there is nothing to
// compare. A standard error from few effective draws is not worth much, and counts for less.
double worst_error(const SampleResult& r) {
  double worst = 0;
  if (!r.exact || !r.exact_sampler) return worst;
  const double all = static_cast<double>(r.draws_made) * r.plan.chains;
  for (std::size_t k = 0; k < r.summaries.size(); ++k) {
    const CoordinateSummary& s = r.summaries[k];
    if (!s.classes.empty()) {
      worst = std::max(worst, worst_class_error(r, k, kEnoughDraws));
      continue;
    }
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
  std::size_t count = 0;
  for (std::size_t k = 0; k < r.summaries.size(); ++k) {
    const int i = r.watched[k];
    count += r.summaries[k].sd == 0 && r.target->domain().levels(i) > 1 &&
             !(r.whole && r.whole->given.is_given(i));
  }
  return count;
}

// Draws that alternate around their mean have an ESS beyond their number, which a bold step alone
// does not reach.
bool alternates(const SampleResult& r) {
  const double all = static_cast<double>(r.draws_made) * r.plan.chains;
  std::vector<double> ess;
  for (const CoordinateSummary& s : r.summaries) ess.push_back(s.ess_bulk);
  return r.random_sampler && all >= kEnoughDraws && largest(ess) > kFarAbove * all;
}

void add_wrong_means(Warnings& list, const SampleResult& r) {
  const double worst = worst_error(r);
  if (worst <= kFarAway) return;
  list.push_back(
      {"exact", fmt::format("the {} are up to {} standard errors away from the exact answer: the "
                            "chains have missed a part of the model, which ESS and R-hat cannot "
                            "show. Do not use these draws.",
                            r.summaries[0].classes.empty() ? "means" : "class probabilities",
                            rounded(worst))});
}

void add_standing_chains(Warnings& list, const SampleResult& r) {
  if (const std::size_t constant = constant_coordinates(r); constant > 0) {
    list.push_back(
        {"constant",
         fmt::format("{} of {} coordinates never changed. Either the model all but fixes them, or "
                     "no chain has found their other levels; they have neither ESS nor R-hat.",
                     with_commas(constant), with_commas(r.summaries.size()))});
  }
  // Exchanges move tempered states, even where steps do not.
  const RunStatistics& s = r.statistics;
  if (s.still_chains == 0 || r.tempering) return;
  list.push_back(
      {"still",
       fmt::format("{} of {} chains stand still: fewer than 1 % of their steps changed the state "
                   "({:.1f} % of all proposals were empty). Do not trust their means; another "
                   "sampler may move them.",
                   with_commas(static_cast<std::uint64_t>(s.still_chains)),
                   with_commas(static_cast<std::uint64_t>(r.plan.chains)), 100 * s.empty)});
}

void add_disagreement(Warnings& list, const SampleResult& r) {
  const std::span<const ObservableSummary> observables =
      r.random_sampler ? std::span(r.observables) : std::span<const ObservableSummary>();
  if (auto w = mixing_warning(r.summaries, observables, r.plan.chains)) list.push_back(*w);
}

void add_missed_modes(Warnings& list, const SampleResult& r) {
  if (!r.probe || !r.probe->missed()) return;
  const ModeProbe& p = *r.probe;
  list.push_back(
      {"modes",
       fmt::format("{} of {} searches that began elsewhere ended in states {}: the chains have "
                   "missed modes, which ESS and R-hat cannot show. Do not use these draws.",
                   std::max(p.elsewhere, p.higher), p.searches,
                   p.elsewhere >= p.higher ? "unlike all draws, and as probable"
                                           : "far more probable than any draw")});
}

void add_odd_statistics(Warnings& list, const SampleResult& r) {
  const RunStatistics& s = r.statistics;
  if (r.draws_made > 0 && s.acceptance < kLeastAcceptance) {
    list.push_back(
        {"acceptance", fmt::format("only {:.2g} % of the proposals are accepted: a smaller step "
                                   "or another sampler would move the chains.",
                                   100 * s.acceptance)});
  }
  if (alternates(r)) {
    list.push_back({"alternation",
                    "the effective sample size is far above the number of draws: the chains "
                    "alternate between few states. Their means may be right, but hardly more."});
  }
  if (s.nonfinite > 0 && !r.target->forbidden_states()) {  // which proposals may meet
    list.push_back(
        {"nonfinite",
         fmt::format("{} proposals had a log p or an acceptance ratio that is not finite.",
                     with_commas(s.nonfinite))});
  }
}

}  // namespace

Warnings tempering_warnings(const TemperingReport& t) {
  constexpr double kMostRejection = .95, kMostCorrelation = .95, kMostPerPair = 1.3, kErrors = 4;
  constexpr std::uint64_t kFewRestarts = 10;
  if (!has_barrier(t.rejection)) {
    return {{"needless",
             "log p differs from that of the base by a constant alone: tempering is not needed."}};
  }
  Warnings list;
  if (t.round_trips == 0) {
    list.push_back(
        {"trips",
         "no state has gone from the base to the model and back: the draws may miss modes. Take "
         "more warm-up and more draws."});
  }
  if (t.restarts < kFewRestarts) {
    list.push_back(
        {"restarts",
         fmt::format("states came from the base to the model {} times only: take more draws.",
                     t.restarts)});
  }
  const auto worst = std::ranges::max_element(t.rejection);
  if (*worst > kMostRejection) {
    const auto k = static_cast<std::size_t>(worst - t.rejection.begin());
    list.push_back(
        {"ladder",
         fmt::format(
             "exchanges between beta = {:.4g} and {:.4g} are rejected with probability {:.3f}: the "
             "ladder needs more replicas or more warm-up.",
             t.betas[k], t.betas[k + 1], *worst)});
  }
  if (2 * t.barrier > kMostPerPair * static_cast<double>(t.rejection.size())) {
    list.push_back(
        {"replicas", fmt::format("the ladder is short: {} replicas would exchange states best.",
                                 t.recommended_replicas)});
  }
  if (t.log_z_forward - t.log_z_backward > kErrors * t.log_z_gap_error) {
    list.push_back({"log_z", fmt::format("the lower estimate of log Z, {:.5g}, is above the upper "
                                         "one, {:.5g}: the slots have not "
                                         "reached their laws.",
                                         t.log_z_forward, t.log_z_backward)});
  }
  std::string slow;
  for (std::size_t k = 1; k < t.betas.size(); ++k) {
    if (!(t.correlation[k] > kMostCorrelation)) continue;
    slow += fmt::format("{}{:.4g}", slow.empty() ? "" : ", ", t.betas[k]);
  }
  if (!slow.empty()) {
    list.push_back({"steps", fmt::format("steps hardly change log p at beta = {} (correlation "
                                         "above {}): take more steps between "
                                         "exchanges, or another sampler.",
                                         slow, kMostCorrelation)});
  }
  return list;
}

Warnings sample_warnings(const SampleResult& r) {
  Warnings list;
  add_wrong_means(list, r);
  add_standing_chains(list, r);
  add_disagreement(list, r);
  add_missed_modes(list, r);
  add_odd_statistics(list, r);
  if (r.tempering && r.draws_made > 0) {
    const Warnings of_ladder = tempering_warnings(*r.tempering);
    list.insert(list.end(), of_ladder.begin(), of_ladder.end());
  }
  return list;
}

}  // namespace saltus
