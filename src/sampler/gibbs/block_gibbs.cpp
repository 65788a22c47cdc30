#include "saltus/sampler/block_gibbs.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/scalar_math.hpp"
#include "ops/ops.hpp"
#include "saltus/core/error.hpp"
#include "saltus/diagnose/exact.hpp"
#include "saltus/sampler/proposal.hpp"
#include "sampler/entries.hpp"

namespace saltus {
namespace {

// Rows of independent bits from their log-odds. A bit is a two-level coordinate at 0 that flips
// with the log-odds as its logit.
struct Bits {
  const ops::Ops& ops = ops::active();
  const Symbol* zeros;
  const Workspace& work;
  const Tile& tile;

  // False when a log-odds is not a number.
  bool draw(int r, Purpose purpose, Rows<const float> log_odds, Symbol* out) const {
    const float none = 0;
    const Stream stream = work.stream(tile, r, purpose);
    return ops
        .propose_two_level({1.0f, &none, true}, log_odds.cols, zeros, log_odds[r], out, stream,
                           false)
        .finite;
  }
};

template <class T>
Rows<T> rows_of(Workspace& work, std::size_t slot, int rows, int cols) {
  const int stride = padded(cols);
  const auto count = static_cast<std::size_t>(rows) * static_cast<std::size_t>(stride);
  return {work.sampler_scratch.get<T>(slot, count), rows, cols, stride};
}

double sum_of_corrections(const HiddenUnits& units, std::span<const float> log_odds) {
  double sum = 0;
  for (const float l : log_odds) sum += units.log_correction(static_cast<double>(l));
  return sum;
}

// The Metropolis test of proposals that leave another law invariant. What is rejected becomes the
// old state. `odds` holds the log-odds of the hidden units at the old states.
void correct(const HiddenUnits& units, Rows<float> odds, const Tile& tile, Workspace& work,
             std::span<StepInfo> info) {
  Tile& y = work.proposal;
  const int rows = tile.rows();
  double* before = work.sampler_scratch.get<double>(4, static_cast<std::size_t>(rows));
  for (int r = 0; r < rows; ++r) before[r] = sum_of_corrections(units, odds.row(r));
  units.hidden_log_odds(work.at(tile.step), {y.x.data, rows, y.x.cols, y.x.stride}, odds);
  for (int r = 0; r < rows; ++r) {
    const double log_ratio = sum_of_corrections(units, odds.row(r)) - before[r];
    if (metropolis(log_ratio, tile, r, work, info[static_cast<std::size_t>(r)])) continue;
    std::copy_n(tile.x[r], tile.x.cols, y.x[r]);
  }
  work.evaluations.gradient += static_cast<std::uint64_t>(rows);
}

}  // namespace

void BlockGibbs::step(const Target& target, Tile& tile, Workspace& work,
                      std::span<StepInfo> info) const {
  const HiddenUnits& units = *target.hidden_units();
  const int rows = tile.rows(), dim = tile.x.cols;
  const auto hidden = rows_of<Symbol>(work, 0, rows, units.hidden());
  const auto hidden_odds = rows_of<float>(work, 1, rows, units.hidden());
  const auto visible_odds = rows_of<float>(work, 2, rows, dim);
  const auto zeros = rows_of<Symbol>(work, 3, 1, std::max(units.hidden(), dim));
  std::fill_n(zeros.data, zeros.stride, Symbol{0});
  const Bits bits{.zeros = zeros.data, .work = work, .tile = tile};

  units.hidden_log_odds(work.at(tile.step), tile.x, hidden_odds);
  for (int r = 0; r < rows; ++r) {
    const bool finite = bits.draw(r, Purpose::propose, hidden_odds, hidden[r]);
    info[static_cast<std::size_t>(r)] = {1.0, static_cast<std::uint32_t>(dim), 0, true, !finite};
  }
  units.visible_log_odds(work.at(tile.step), hidden, visible_odds);
  Tile& y = work.proposal;
  for (int r = 0; r < rows; ++r) {
    StepInfo& done = info[static_cast<std::size_t>(r)];
    done.nonfinite |= !bits.draw(r, Purpose::level, visible_odds, y.x[r]);
    for (int i = 0; i < dim; ++i) done.changed += y.x[r][i] != tile.x[r][i];
  }
  if (!units.leaves_target_invariant()) correct(units, hidden_odds, tile, work, info);
  std::swap(tile.x.data, y.x.data);
  // Two matrix products: what a gradient costs.
  work.evaluations.gradient += static_cast<std::uint64_t>(rows);
  ++tile.step;
  tile.score_current = tile.target_cache_current = false;
  tile.logp_current = work.want_logp;
  if (!work.want_logp) return;
  target.evaluate(work.at(tile.step), tile.x, tile.logp, {});
  work.evaluations.logp += static_cast<std::uint64_t>(rows);
}

namespace {

// Probability of `bits` given their log-odds.
double probability(std::span<const double> log_odds, const Symbol* bits) {
  double log_p = 0;
  for (std::size_t k = 0; k < log_odds.size(); ++k) {
    log_p -= softplus(bits[k] ? -log_odds[k] : log_odds[k]);
  }
  return std::exp(log_p);
}

void accept_or_stay(const HiddenUnits& units, std::span<const double> hidden_odds,
                    Rows<double> matrix, std::span<double> acceptance) {
  const std::size_t hidden = static_cast<std::size_t>(units.hidden());
  std::vector<double> correction(acceptance.size());
  for (std::size_t k = 0; k < hidden_odds.size(); ++k) {
    correction[k / hidden] += units.log_correction(hidden_odds[k]);
  }
  for (std::size_t s = 0; s < acceptance.size(); ++s) {
    double* row = matrix[static_cast<int>(s)];
    acceptance[s] = 0;
    for (std::size_t t = 0; t < acceptance.size(); ++t) {
      row[t] *= std::exp(std::min(0.0, correction[t] - correction[s]));
      acceptance[s] += row[t];
    }
    row[s] += 1 - acceptance[s];
  }
}

}  // namespace

// T(x, x') = sum over all h of p(h | x) p(x' | h), times the probability of acceptance where that
// is not 1; what is rejected stays.
void BlockGibbs::transition_matrix(const StateTable& table, const When&, Rows<double> matrix,
                                   std::span<double> acceptance) const {
  const HiddenUnits& units = *table.target().hidden_units();
  if (units.hidden() > kMostEnumerated) {
    throw UsageError("the exact transition matrix of block_gibbs sums over all states of the " +
                     std::to_string(units.hidden()) + " hidden units; at most " +
                     std::to_string(kMostEnumerated) + " hidden units are possible");
  }
  const std::size_t states = table.size(), hidden = static_cast<std::size_t>(units.hidden());
  std::vector<double> hidden_odds(states * hidden), to(states),
      visible_odds(static_cast<std::size_t>(table.domain().dim()));
  for (std::size_t s = 0; s < states; ++s) {
    units.hidden_log_odds_exact(table.state(s), hidden_odds.data() + s * hidden);
    std::fill_n(matrix[static_cast<int>(s)], states, 0.0);
    acceptance[s] = 1;
  }
  std::vector<Symbol> h(hidden);
  for (std::uint32_t code = 0; code < (1u << hidden); ++code) {
    for (std::size_t k = 0; k < hidden; ++k) h[k] = code >> k & 1;
    units.visible_log_odds_exact(h.data(), visible_odds.data());
    for (std::size_t t = 0; t < states; ++t) to[t] = probability(visible_odds, table.state(t));
    for (std::size_t s = 0; s < states; ++s) {
      const double p = probability(std::span(hidden_odds).subspan(s * hidden, hidden), h.data());
      double* row = matrix[static_cast<int>(s)];
      for (std::size_t t = 0; t < states; ++t) row[t] += p * to[t];
    }
  }
  if (!units.leaves_target_invariant()) accept_or_stay(units, hidden_odds, matrix, acceptance);
}

std::string BlockGibbs::missing(const Target& target) const {
  std::string lacks = Sampler::missing(target);
  if (!lacks.empty()) return lacks;
  return target.hidden_units() ? "" : "hidden units given which the coordinates are independent";
}

SamplerEntry block_gibbs_entry() {
  return {"block_gibbs",
          "all hidden units at once, then all coordinates: exact",
          {},
          [](const Target&, const Settings&) -> std::unique_ptr<Sampler> {
            return std::make_unique<BlockGibbs>();
          }};
}

}  // namespace saltus
