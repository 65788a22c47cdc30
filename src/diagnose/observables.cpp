#include "saltus/diagnose/observables.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "saltus/diagnose/chains.hpp"

namespace saltus {
namespace {

// Draws of each chain, and symbols of all, that an observable is computed from at most.
constexpr std::size_t kMostDraws = 20000;
constexpr double kMostSymbols = 2e8;
constexpr std::size_t kLogpBlock = 4096;  // log p read at a time

std::size_t every(const Draws& draws) {
  const double per_draw = static_cast<double>(draws.dim()) * draws.chains();
  const auto most = static_cast<std::size_t>(
      std::clamp(kMostSymbols / per_draw, 100.0, static_cast<double>(kMostDraws)));
  return (draws.draws() + most - 1) / most;
}

// Of shift + scale x, x the numbers in the series: whole numbers there keep ties, which rounding
// would break.
ObservableSummary summary_of(std::string name, const RowBuffer<double>& series, double shift = 0,
                             double scale = 1) {
  const Rows<const double> x = series.view();
  const Chains chains = chains_of(x);
  double sum = 0, squares = 0;
  const double count = static_cast<double>(x.rows) * x.cols;
  for (int c = 0; c < x.rows; ++c) {
    for (int t = 0; t < x.cols; ++t) sum += x[c][t];
  }
  const double mean = sum / count;
  for (int c = 0; c < x.rows; ++c) {
    for (int t = 0; t < x.cols; ++t) squares += (x[c][t] - mean) * (x[c][t] - mean);
  }
  ObservableSummary s;
  s.name = std::move(name);
  s.mean = shift + scale * mean;
  s.sd = count > 1 ? scale * std::sqrt(squares / (count - 1)) : 0;
  s.mcse = s.sd / std::sqrt(ess_mean(chains));
  s.ess_bulk = ess_bulk(chains);
  s.ess_tail = NAN;
  s.rhat = rhat(chains);
  return s;
}

}  // namespace

std::vector<ObservableSummary> observe(const Draws& draws, const Domain& domain) {
  const std::size_t step = every(draws), count = draws.draws() / step;
  const bool numbers = domain.kind() == Domain::Kind::ordered && draws.dim() > 1;
  const RowBuffer<double> logp(draws.chains(), static_cast<int>(count)),
      sums(draws.chains(), static_cast<int>(count));
  const RowBuffer<Symbol> row(1, draws.dim());
  for (int chain = 0; chain < draws.chains(); ++chain) {
    for (std::size_t t = 0; t < count; ++t) {
      draws.read_logp(chain, t * step, {logp.view()[chain] + t, 1});
      if (!numbers) continue;
      draws.read_states(chain, t * step, row.view());
      double sum = 0;
      for (int i = 0; i < draws.dim(); ++i) sum += row.view()[0][i];
      sums.view()[chain][t] = sum;
    }
  }
  std::vector<ObservableSummary> list = {summary_of("log p", logp)};
  const DrawsInfo& info = draws.info();
  if (numbers) {
    list.push_back(summary_of("mean of x", sums, info.first_value, info.spacing / draws.dim()));
  }
  return list;
}

BestDraw best_state(const Draws& draws) {
  BestDraw best{-std::numeric_limits<double>::infinity(), 0, 0, {}};
  std::vector<double> logp(kLogpBlock);
  for (int chain = 0; chain < draws.chains(); ++chain) {
    for (std::size_t first = 0; first < draws.draws(); first += kLogpBlock) {
      const std::span block(logp.data(), std::min(kLogpBlock, draws.draws() - first));
      draws.read_logp(chain, first, block);
      const auto top = std::ranges::max_element(block);
      if (!(*top > best.logp)) continue;
      best = {*top, chain, first + static_cast<std::size_t>(top - block.begin()), {}};
    }
  }
  best.state.resize(static_cast<std::size_t>(draws.dim()));
  draws.read_states(best.chain, best.draw, {best.state.data(), 1, draws.dim(), draws.dim()});
  return best;
}

}  // namespace saltus
