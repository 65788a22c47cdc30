#include "saltus/couple/coupled_kernel.hpp"

#include <algorithm>

#include "couple/kernels.hpp"
#include "saltus/core/error.hpp"

namespace saltus {
namespace {

// The place at which the running sum of weight(k) passes `point`; rounding at the end falls back to
// the last place that has any.
template <class Weight>
int place_at(std::size_t places, double point, Weight weight) {
  int last = 0;
  for (std::size_t k = 0; k < places; ++k) {
    const double w = weight(k);
    if (!(w > 0)) continue;
    last = static_cast<int>(k);
    point -= w;
    if (point < 0) break;
  }
  return last;
}

constexpr double kOverlapRounding = 1e-12;

}  // namespace

CoupledDraw couple_draws(std::span<const double> p, std::span<const double> q, const Stream& stream,
                         std::uint32_t first) {
  const double u = stream.uniform(first);
  if (p.size() == 2) return {u < p[1], u < q[1]};
  const auto both = [&](std::size_t k) { return std::min(p[k], q[k]); };
  double overlap = 0;
  for (std::size_t k = 0; k < p.size(); ++k) overlap += both(k);
  if (u < overlap || overlap > 1 - kOverlapRounding) {
    const int place = place_at(p.size(), u, both);
    return {place, place};
  }
  const auto rest = [&](std::span<const double> law, std::uint32_t index) {
    return place_at(law.size(), stream.uniform(index) * (1 - overlap),
                    [&](std::size_t k) { return law[k] - both(k); });
  };
  return {rest(p, first + 1), rest(q, first + 2)};
}

std::unique_ptr<CoupledKernel> make_coupled_kernel(const Target& target, const Sampler& sampler) {
  if (target.constraint()) {
    throw UsageError("there is no coupling of chains under a constraint");
  }
  require(sampler, target);
  if (target.domain().unbounded()) {
    throw UsageError(
        "coupled chains start anywhere among finitely many levels, but the integers of the model " +
        target.name() + " are unbounded");
  }
  if (target.stochastic()) {
    throw UsageError("coupled chains need log p itself, not a mini-batch estimate of it");
  }
  if (const auto* dlp = dynamic_cast<const Dlp*>(&sampler)) return couple_dmala(target, *dlp);
  if (const auto* gibbs = dynamic_cast<const Gibbs*>(&sampler)) return couple_gibbs(target, *gibbs);
  const auto* gwg = dynamic_cast<const Gwg*>(&sampler);
  if (gwg && !gwg->options().exact) return couple_gwg(target, *gwg);
  if (const auto* pas = dynamic_cast<const Pas*>(&sampler)) return couple_pas(target, *pas);
  throw UsageError("there is no coupling of " + sampler.name() +
                   "; those that serve are dmala, gibbs, gwg and pas");
}

}  // namespace saltus
