#include "saltus/diagnose/observables.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "saltus/diagnose/chains.hpp"
#include "saltus/target/abilities.hpp"

namespace saltus {
namespace {

// Draws of each chain, and symbols of all, that observables are computed from at most.
constexpr double kMostDraws = 20000, kMostSymbols = 2e8;
// Of a quick reading: one draw of so many, within limits.
constexpr double kQuickShare = 25, kQuickLeast = 1000, kQuickMost = 4000;
constexpr std::size_t kBlockSymbols = 1 << 16;  // read at a time
constexpr std::size_t kLogpBlock = 4096;        // log p read at a time
constexpr int kMostNeighbours = 8;
constexpr std::size_t kMostBonds = 1 << 20;

std::size_t every(const Draws& draws, Reading reading) {
  const double per_draw = static_cast<double>(draws.dim()) * draws.chains();
  const double wanted =
      reading == Reading::thorough
          ? kMostDraws
          : std::clamp(static_cast<double>(draws.draws()) / kQuickShare, kQuickLeast, kQuickMost);
  const auto most = static_cast<std::size_t>(std::clamp(kMostSymbols / per_draw, 100.0, wanted));
  return std::max<std::size_t>(1, (draws.draws() + most - 1) / most);
}

// Every k-th draw of a chain, from the first one on, read in blocks.
class ThinnedStates {
 public:
  ThinnedStates(const Draws& draws, std::size_t every)
      : draws_(draws),
        every_(every),
        held_(std::max<std::size_t>(1, kBlockSymbols / (every * stride()))),
        levels_((held_ > 1 ? held_ * every : 1) * stride()) {}

  // The draw t * every; t goes up.
  const Symbol* state(int chain, std::size_t t) {
    if (held_ == 1) {
      read(chain, t * every_, 1);
      return levels_.data();
    }
    if (chain != chain_ || t < first_ || t >= first_ + held_) {
      chain_ = chain;
      first_ = t;
      read(chain, t * every_, std::min(held_ * every_, draws_.draws() - t * every_));
    }
    return levels_.data() + (t - first_) * every_ * stride();
  }

 private:
  std::size_t stride() const { return static_cast<std::size_t>(draws_.dim()); }
  void read(int chain, std::size_t draw, std::size_t count) {
    draws_.read_states(chain, draw,
                       {levels_.data(), static_cast<int>(count), draws_.dim(), draws_.dim()});
  }

  const Draws& draws_;
  std::size_t every_, held_;  // draws of a block
  std::vector<Symbol> levels_;
  int chain_ = -1;
  std::size_t first_ = 0;
};

std::vector<double> thinned_logp(const Draws& draws, int chain, std::size_t every) {
  std::vector<double> block(kLogpBlock), thinned;
  for (std::size_t first = 0; first < draws.draws(); first += kLogpBlock) {
    const std::span part(block.data(), std::min(kLogpBlock, draws.draws() - first));
    draws.read_logp(chain, first, part);
    for (std::size_t t = (every - first % every) % every; t < part.size(); t += every) {
      thinned.push_back(part[t]);
    }
  }
  return thinned;
}

// What makes numbers of levels.
struct Values {
  double first, spacing;
  int levels;
  bool ordered, products;  // overlaps and neighbours are means of products

  explicit Values(const DrawsInfo& info)
      : first(info.first_value),
        spacing(info.spacing),
        levels(info.levels),
        ordered(info.classes.empty()),
        products(ordered && (levels > 2 || (first == -1 && spacing == 2))) {}

  double mean(const Symbol* x, std::size_t dim) const {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < dim; ++i) sum += x[i];
    return first + spacing * static_cast<double>(sum) / static_cast<double>(dim);
  }
  double overlap(const Symbol* a, const Symbol* b, std::size_t dim) const {
    if (!products) {
      std::uint32_t equal = 0;
      for (std::size_t i = 0; i < dim; ++i) equal += a[i] == b[i];
      return equal / static_cast<double>(dim);
    }
    // Of whole numbers, which are exact: the mean of (first + spacing a)(first + spacing b).
    std::uint64_t both = 0, sum = 0;
    for (std::size_t i = 0; i < dim; ++i) both += std::uint64_t{a[i]} * b[i];
    for (std::size_t i = 0; i < dim; ++i) sum += std::uint64_t{a[i]} + b[i];
    const auto n = static_cast<double>(dim);
    return first * first + first * spacing * static_cast<double>(sum) / n +
           spacing * spacing * static_cast<double>(both) / n;
  }
  double neighbours(const Symbol* x, const std::vector<int>& bonds) const {
    const double count = static_cast<double>(bonds.size()) / 2;
    if (products && levels > 2) {
      double sum = 0;
      for (std::size_t k = 0; k < bonds.size(); k += 2) {
        sum += (first + spacing * x[bonds[k]]) * (first + spacing * x[bonds[k + 1]]);
      }
      return sum / count;
    }
    std::uint32_t equal = 0;
    for (std::size_t k = 0; k < bonds.size(); k += 2) equal += x[bonds[k]] == x[bonds[k + 1]];
    // The product of two spins is 1 or -1.
    return products ? 2 * equal / count - 1 : equal / count;
  }
};

}  // namespace

ExpressionSpace expression_space(const DrawsInfo& info, int dim) {
  return {dim, info.shape, info.first_value, info.spacing};
}

std::vector<int> sparse_bonds(const Target& target) {
  const LocalMoves* moves = target.local_moves();
  if (!moves || moves->max_neighbours() > kMostNeighbours) return {};
  std::vector<std::int32_t> room(static_cast<std::size_t>(moves->max_neighbours()));
  std::vector<int> bonds;
  for (int i = 0; i < target.domain().dim(); ++i) {
    for (const std::int32_t j : moves->neighbours(i, room.data())) {
      if (j > i) bonds.insert(bonds.end(), {i, j});
    }
    if (bonds.size() > 2 * kMostBonds) return {};
  }
  return bonds;
}

std::vector<Observed> observed_series(const Draws& draws, std::span<const Expression> own,
                                      Reading reading) {
  const DrawsInfo& info = draws.info();
  const Values values(info);
  const auto dim = static_cast<std::size_t>(draws.dim());
  const std::size_t step = every(draws, reading), count = (draws.draws() + step - 1) / step;
  const int length = static_cast<int>(count), pairs = draws.chains() / 2;
  std::vector<Observed> list;
  const auto add = [&](const std::string& name, bool wanted, bool of_pairs = false) {
    if (!wanted) return Rows<double>{};
    const int rows = of_pairs ? pairs : draws.chains();
    list.push_back({name, RowBuffer<double>(rows, length), of_pairs, step});
    return list.back().series.view();
  };
  const Rows<double> logp = add("log p", true), mean = add("mean of x", values.ordered && dim > 1),
                     overlap = add("overlap", pairs > 0 && dim > 1, true),
                     neighbours = add("neighbours", !info.bonds.empty());
  const std::size_t first_own = list.size();
  for (const Expression& e : own) add(e.name(), true);

  ThinnedStates states(draws, step), partners(draws, step);
  Expression::Room room;
  for (int chain = 0; chain < draws.chains(); ++chain) {
    std::ranges::copy(thinned_logp(draws, chain, step), logp[chain]);
    const bool with_partner = overlap && chain % 2 == 1;
    if (!mean && !neighbours && !with_partner && own.empty()) continue;
    for (std::size_t t = 0; t < count; ++t) {
      const Symbol* x = states.state(chain, t);
      if (mean) mean[chain][t] = values.mean(x, dim);
      if (neighbours) neighbours[chain][t] = values.neighbours(x, info.bonds);
      if (with_partner) {
        overlap[chain / 2][t] = values.overlap(partners.state(chain - 1, t), x, dim);
      }
      for (std::size_t k = 0; k < own.size(); ++k) {
        list[first_own + k].series.view()[chain][t] = own[k].value(x, logp[chain][t], room);
      }
    }
  }
  return list;
}

ObservableSummary summarise(const Observed& observed) {
  const Rows<const double> x = observed.series.view();
  const Chains chains = chains_of(x);
  double sum = 0, squares = 0;
  const double count = static_cast<double>(x.rows) * x.cols;
  bool held = count > 0;  // the mean must not differ from a held value by rounding
  for (int c = 0; c < x.rows; ++c) {
    for (int t = 0; t < x.cols; ++t) {
      sum += x[c][t];
      held = held && x[c][t] == x[0][0];
    }
  }
  const double mean = held ? x[0][0] : sum / count;
  for (int c = 0; c < x.rows; ++c) {
    for (int t = 0; t < x.cols; ++t) squares += (x[c][t] - mean) * (x[c][t] - mean);
  }
  ObservableSummary s;
  s.name = observed.name;
  s.of_pairs = observed.of_pairs;
  s.mean = mean;
  s.sd = count > 1 ? std::sqrt(squares / (count - 1)) : 0;
  s.ess = ess_mean(chains);
  s.mcse = s.sd / std::sqrt(s.ess);
  const Chains distances = {chains.chains, chains.draws,
                            [&chains, mean](int chain, std::span<double> out) {
                              chains.read(chain, out);
                              for (double& v : out) v = std::abs(v - mean);
                            }};
  // fmax leaves out a NaN, that of a constant distance.
  s.rhat = std::fmax(split_rhat(chains), split_rhat(distances));
  return s;
}

std::vector<ObservableSummary> observe(const Draws& draws, std::span<const Expression> own,
                                       Reading reading) {
  std::vector<ObservableSummary> list;
  for (const Observed& observed : observed_series(draws, own, reading)) {
    list.push_back(summarise(observed));
  }
  return list;
}

std::optional<BestDraw> best_state(const Draws& draws) {
  BestDraw best{-std::numeric_limits<double>::infinity(), 0, 0, {}};
  bool found = false;
  std::vector<double> logp(kLogpBlock);
  for (int chain = 0; chain < draws.chains(); ++chain) {
    for (std::size_t first = 0; first < draws.draws(); first += kLogpBlock) {
      const std::span block(logp.data(), std::min(kLogpBlock, draws.draws() - first));
      draws.read_logp(chain, first, block);
      const auto top = std::ranges::max_element(block);
      if (!(*top > best.logp)) continue;
      found = true;
      best = {*top, chain, first + static_cast<std::size_t>(top - block.begin()), {}};
    }
  }
  if (!found) return std::nullopt;
  best.state.resize(static_cast<std::size_t>(draws.dim()));
  draws.read_states(best.chain, best.draw, {best.state.data(), 1, draws.dim(), draws.dim()});
  return best;
}

}  // namespace saltus
