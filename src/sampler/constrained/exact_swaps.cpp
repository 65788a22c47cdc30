#include "sampler/constrained/exact_swaps.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "core/draw_place.hpp"
#include "saltus/diagnose/exact.hpp"
#include "saltus/sampler/proposal.hpp"
#include "sampler/constrained/additions.hpp"
#include "sampler/constrained/entries.hpp"
#include "sampler/constrained/flip_kernel.hpp"
#include "sampler/informed/balancing.hpp"

namespace saltus {

// The weights of more would take more than 80 MB for each thread.
constexpr double kMostPairs = 1e7;

std::vector<Parameter> ExactSwaps::parameters() const {
  return {{"balancing", balancing_name(balancing_)}};
}

std::string ExactSwaps::missing(const Target& target) const {
  const Constraint* c = target.constraint();
  if (!c || !c->fixed_sum()) return "a constraint sum=K";
  if (static_cast<double>(c->low()) * (c->dim() - c->low()) > kMostPairs) {
    return fmt::format("at most {:.0f} pairs of a one and a zero", kMostPairs);
  }
  return Sampler::missing(target);
}

Sampler::Needs ExactSwaps::needs(const Target& target) const {
  return Additions::needs(target, true);
}

double ExactSwaps::Pairs::log_total() const {
  return top + std::log(sum);
}

ExactSwaps::Pairs ExactSwaps::pairs(const Target& target, const Tile& tile, int r, Workspace& work,
                                    std::uint64_t step) const {
  const Additions additions(target, work, step);
  const auto dim = static_cast<std::size_t>(tile.x.cols);
  const auto ones = static_cast<std::size_t>(constraint_.low()), zeros = dim - ones;
  auto* on = work.sampler_scratch.get<std::int32_t>(3, dim + 1);
  auto* off = on + ones;  // with room for the one that leaves, behind them
  for (std::size_t i = 0, a = 0, b = 0; i < dim; ++i) {
    (tile.x[r][i] ? on[a++] : off[b++]) = static_cast<std::int32_t>(i);
  }
  const std::span places(off, zeros + 1);
  const std::span weights(work.sampler_scratch.get<double>(4, ones * zeros), ones * zeros);
  auto* changes = work.sampler_scratch.get<double>(5, zeros + 1);
  double top = -INFINITY;
  for (std::size_t a = 0; a < ones; ++a) {
    places.back() = on[a];
    additions.compute(additions.copy(tile, r), on[a], places, changes);
    for (std::size_t b = 0; b < zeros; ++b) {
      double& w = weights[a * zeros + b];
      w = log_weight(balancing_, changes[b] - changes[zeros]);
      top = std::max(top, w);
    }
  }
  return {{on, ones}, {off, zeros}, weights, take_exp(weights), top};
}

void ExactSwaps::step(const Target& target, Tile& tile, Workspace& work,
                      std::span<StepInfo> info) const {
  const Needs needed = needs(target);
  const bool keeps = needed.score || needed.target_cache;
  Tile& y = work.proposal;
  auto* log_total = work.sampler_scratch.get<double>(6, info.size());
  for (int r = 0; r < tile.rows(); ++r) {
    const auto row = static_cast<std::size_t>(r);
    const Pairs p = pairs(target, tile, r, work, tile.step);
    log_total[row] = p.log_total();
    const double u = work.stream(tile, r, Purpose::propose).uniform();
    const std::size_t k = draw_place(p.weights, u * p.sum);
    std::copy_n(tile.x[r], tile.x.cols, y.x[r]);
    y.x[r][p.on[k / p.off.size()]] = 0;
    y.x[r][p.off[k % p.off.size()]] = 1;
    info[row] = {1.0, 2, 2, true, false};
  }
  Tile proposed = y;
  proposed.x.rows = proposed.score.rows = proposed.target_cache.rows = tile.rows();
  target.evaluate_and_cache(work.at(tile.step + 1), proposed.x, y.logp,
                            keeps ? proposed.score : Rows<float>{},
                            keeps ? proposed.target_cache : Rows<float>{});
  work.evaluations.logp += info.size();
  for (int r = 0; r < tile.rows(); ++r) {
    StepInfo& of_row = info[static_cast<std::size_t>(r)];
    const double back = std::isfinite(y.logp[r])
                            ? pairs(target, proposed, r, work, tile.step + 1).log_total()
                            : INFINITY;
    const double ratio = log_total[r] - back;
    keeps ? test_proposal(ratio, tile, r, work, of_row) : test_state(ratio, tile, r, work, of_row);
  }
  ++tile.step;
}

void ExactSwaps::transition_matrix(const StateTable& table, const When&, Rows<double> matrix,
                                   std::span<double> acceptance) const {
  const std::size_t n = table.size();
  const auto one_swap = [&](std::size_t s, std::size_t t) {
    return flips_between(table, s, t).size() == 2;
  };
  std::vector<double> log_total(n);
  const auto change = [&](std::size_t s, std::size_t t) {
    return log_weight(balancing_, table.logp(t) - table.logp(s));
  };
  for (std::size_t s = 0; s < n; ++s) {
    double sum = 0;
    for (std::size_t t = 0; t < n; ++t) {
      if (one_swap(s, t)) sum += std::exp(change(s, t));
    }
    log_total[s] = std::log(sum);
  }
  for (std::size_t s = 0; s < n; ++s) {
    double* row = matrix[static_cast<int>(s)];
    std::fill_n(row, n, 0.0);
    acceptance[s] = 0;
    if (!std::isfinite(table.logp(s))) continue;
    for (std::size_t t = 0; t < n; ++t) {
      if (!one_swap(s, t)) continue;
      add_tested(table, s, t, change(s, t) - log_total[s], change(t, s) - log_total[t], row,
                 acceptance[s]);
    }
  }
  add_stays(table, matrix, acceptance);
}

SamplerEntry constrained_locally_balanced_entry() {
  return {"locally_balanced",
          "a one and a zero chosen by exact differences of log p exchange their places: exact",
          {"balancing"},
          [](const Target& target, const Settings& settings) -> std::unique_ptr<Sampler> {
            return std::make_unique<ExactSwaps>(*target.constraint(), balancing_setting(settings));
          }};
}

}  // namespace saltus
