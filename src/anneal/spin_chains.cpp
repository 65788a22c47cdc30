// Restarts of spins with small whole couplings, a bit of a word for each (ops/gibbs/spins.hpp).
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "anneal/search_chains.hpp"
#include "ops/ops.hpp"
#include "saltus/core/parallel.hpp"
#include "saltus/model/models.hpp"
#include "saltus/sampler/gibbs.hpp"
#include "saltus/target/quadratic.hpp"
#include "sampler/gibbs/scan.hpp"

namespace saltus {
namespace {

using ops::kSpinChains;

// Updates of coordinates between two questions whether to stop, and steps at most.
constexpr std::size_t kLaneUpdates = std::size_t{1} << 26, kLaneSteps = 64;

// log p = unit * (sum of couplings s_i s_j + sum of fields s_i), all of them whole.
struct WholeSpins {
  double unit = 1;
  double constant = 0;  // of log p
  int words = 1;        // of 64 restarts, at each site
  std::vector<ops::SpinSite> site;
  std::vector<std::uint32_t> neighbour;
  std::vector<std::int16_t> field;
  int most = 0;                // the largest sum of |couplings| and |field| of a spin, in units
  std::int64_t all_units = 0;  // the sum of all |couplings| and |fields|

  ops::SpinGraph graph() const { return {site.data(), neighbour.data(), words}; }

  std::uint32_t place(std::size_t i) const {
    return static_cast<std::uint32_t>(i) * static_cast<std::uint32_t>(words);
  }
  // The site after all others fills up blocks of neighbours.
  std::uint32_t filling() const { return place(field.size()); }

  // Adds neighbours of the next spin. Returns the number of blocks.
  std::uint16_t add(const std::vector<int>& others) {
    const std::size_t begin = neighbour.size();
    for (const int i : others) neighbour.push_back(place(static_cast<std::size_t>(i)));
    while (neighbour.size() % ops::kSpinBlock) neighbour.push_back(filling());
    return static_cast<std::uint16_t>((neighbour.size() - begin) / ops::kSpinBlock);
  }
};

// The unit of all couplings and fields: each is a whole multiple of it. It divides the smallest.
std::optional<double> unit_of(const QuadraticModel& model) {
  std::vector<double> sizes;
  for (const Coupling& c : model.couplings) sizes.push_back(std::abs(c.weight));
  for (const double f : model.field) sizes.push_back(std::abs(f));
  std::erase(sizes, 0.0);
  if (sizes.empty()) return std::nullopt;
  const double smallest = std::ranges::min(sizes);
  constexpr int kMostParts = 12;
  constexpr double kRounding = 1e-12;
  for (int parts = 1; parts <= kMostParts; ++parts) {
    const double unit = smallest / parts;
    const bool whole = std::ranges::all_of(sizes, [&](double v) {
      const double units = v / unit;
      return units <= ops::kMostInByte && std::abs(units - std::round(units)) <= kRounding * units;
    });
    if (whole) return unit;
  }
  return std::nullopt;
}

// Nothing where the model is another, or its fields are too large.
std::optional<WholeSpins> whole_spins(const Target& target, int words) {
  const auto* quadratic = dynamic_cast<const Quadratic*>(&target);
  if (!quadratic || target.domain().first_value() != -1 || !target.domain().two_level()) {
    return std::nullopt;
  }
  // Words of states, blocks of neighbours and blocks of random numbers have 32-bit numbers.
  constexpr std::size_t kMostSpins = 1 << 24, kMostCouplings = std::size_t{1} << 31;
  const QuadraticModel model = quadratic->model();
  const auto n = static_cast<std::size_t>(target.domain().dim());
  const std::optional<double> unit = unit_of(model);
  if (!unit || n > kMostSpins || model.couplings.size() > kMostCouplings) return std::nullopt;
  WholeSpins spins;
  spins.unit = *unit;
  spins.constant = model.constant;
  spins.words = words;
  std::vector<std::vector<int>> plus(n), minus(n);
  for (const Coupling& c : model.couplings) {
    if (c.i == c.j) return std::nullopt;
    const auto units = static_cast<std::size_t>(std::lround(std::abs(c.weight) / *unit));
    auto& of = c.weight > 0 ? plus : minus;
    auto &at_i = of[static_cast<std::size_t>(c.i)], &at_j = of[static_cast<std::size_t>(c.j)];
    at_i.insert(at_i.end(), units, c.j);
    at_j.insert(at_j.end(), units, c.i);
  }
  for (const double f : model.field) {
    spins.field.push_back(static_cast<std::int16_t>(std::lround(f / *unit)));
  }
  for (std::size_t i = 0; i < n; ++i) {
    const auto entries = static_cast<int>(plus[i].size() + minus[i].size());
    const int most = entries + std::abs(spins.field[i]);
    if (most > ops::kMostField) return std::nullopt;
    spins.most = std::max(spins.most, most);
    spins.all_units += entries + 2 * std::abs(spins.field[i]);
    ops::SpinSite site{static_cast<std::uint32_t>(spins.neighbour.size() / ops::kSpinBlock), 0, 0,
                       0, static_cast<std::int16_t>(most)};
    site.plus = spins.add(plus[i]);
    site.minus = spins.add(minus[i]);
    // Those that fill up the minus neighbours are -1, too.
    const int filled = ops::kSpinBlock * site.minus - static_cast<int>(minus[i].size());
    site.base = static_cast<std::int16_t>(spins.field[i] - entries - 2 * filled);
    spins.site.push_back(site);
  }
  spins.all_units /= 2;
  return spins;
}

// A sweep of single spins in an order that all chains share.
bool sweeps(const Gibbs& gibbs, const Target& target) {
  using Scan = GibbsOptions::Scan;
  const Scan scan = gibbs.options().scan;
  return gibbs.options().block == 1 && gibbs.updates() == target.domain().dim() &&
         (scan == Scan::systematic || scan == Scan::permutation);
}

// Level 1 has log-odds 2 b unit f.
std::vector<std::uint64_t> odds_at(double beta, double unit, int most) {
  std::vector<std::uint64_t> odds(static_cast<std::size_t>(most) + 1);
  for (std::size_t f = 0; f < odds.size(); ++f) {
    const double p = 1 / (1 + std::exp(2 * beta * unit * static_cast<double>(f)));
    odds[f] = static_cast<std::uint64_t>(std::llround(std::ldexp(p, 40)));
    if (odds[f] == 0) break;  // and so are those of larger fields
  }
  return odds;
}

// Words of a site that serve the restarts best: neighbours are counted for all of them at once, but
// every thread should have work.
int words_for(int groups, int threads) {
  int words = ops::kMostWords;
  while (words > 1 && groups < words * threads) words /= 2;
  return words;
}

int groups_of(const SearchPlan& plan) {
  return (plan.restarts + kSpinChains - 1) / kSpinChains;
}

// Counts of 64 chains by bits: plane k has bit k of each.
class ChainCounts {
 public:
  // Adds the weight to the chains in a set.
  void add(std::uint64_t set, unsigned weight) {
    for (std::size_t k = 0; weight >> k; ++k) {
      std::uint64_t carry = weight >> k & 1 ? set : 0;
      for (std::size_t at = k; carry; ++at) {
        const std::uint64_t both = plane_[at] & carry;
        plane_[at] ^= carry;
        carry = both;
      }
    }
  }
  std::int64_t of(int lane) const {
    std::int64_t count = 0;
    for (std::size_t k = 0; k < plane_.size(); ++k) {
      count |= static_cast<std::int64_t>(plane_[k] >> lane & 1) << k;
    }
    return count;
  }

 private:
  std::array<std::uint64_t, 48> plane_{};
};

class SpinChains final : public SearchChains {
 public:
  SpinChains(const Target& target, std::shared_ptr<const Sampler> sampler, WholeSpins spins,
             const SearchPlan& plan, Found& found)
      : sampler_(std::move(sampler)),
        scan_(scan_of(static_cast<const Gibbs&>(*sampler_).options(), target.domain())),
        spins_(std::move(spins)),
        plan_(plan),
        found_(found),
        pool_(useful_threads(plan.threads, tiles())),
        scratch_(static_cast<std::size_t>(pool_.threads())) {
    for (int t = 0; t < tiles(); ++t) {
      const int groups = std::min(spins_.words, groups_of(plan_) - t * spins_.words);
      tiles_.emplace_back((sites() + 1) * static_cast<std::size_t>(spins_.words), groups);
    }
  }

  void start() override {
    pool_.for_each(tiles(), [&](int t, int) { start_tile(t); });
  }

  void advance(std::span<const double> betas, std::size_t first) override {
    std::vector<std::vector<std::uint64_t>> odds;
    for (const double b : betas) odds.push_back(odds_at(b, spins_.unit, spins_.most));
    pool_.for_each(tiles(), [&](int t, int thread) {
      for (std::size_t k = 0; k < odds.size(); ++k) {
        step(t, {odds[k].data(), spins_.most}, first + k,
             scratch_[static_cast<std::size_t>(thread)]);
      }
      for (int r = 0; r < rows(t); ++r) {
        if (found_.step[place(t, r)] > first) unpack_best(t, r);
      }
    });
  }

  std::shared_ptr<const Sampler> sampler() const override { return sampler_; }

  std::size_t round() const override {
    const std::size_t updates = static_cast<std::size_t>(groups_of(plan_)) * kSpinChains * sites();
    return std::clamp<std::size_t>(kLaneUpdates / updates, 1, kLaneSteps);
  }

 private:
  static constexpr int kMostRows = ops::kMostWords * kSpinChains;
  struct SpinTile {
    SpinTile(std::size_t words, int groups_) : now(words), best(words), groups(groups_) {}
    std::vector<std::uint64_t> now, best;  // by site; the last site fills up blocks of neighbours
    int groups;
    // log p in units, as whole numbers: exact.
    std::int64_t units[kMostRows] = {}, best_units[kMostRows] = {};
  };

  int tile_rows() const { return spins_.words * kSpinChains; }
  int tiles() const { return (groups_of(plan_) + spins_.words - 1) / spins_.words; }
  int rows(int t) const { return std::min(tile_rows(), plan_.restarts - t * tile_rows()); }
  std::size_t sites() const { return spins_.field.size(); }

  // Where the spin of row r is.
  std::size_t word(std::size_t i, int r) const {
    return i * static_cast<std::size_t>(spins_.words) + static_cast<std::size_t>(r / kSpinChains);
  }
  static int bit(int r) { return ops::spin_lane(r % kSpinChains); }

  // The states of Ensemble::start_random, with their log p.
  void start_tile(int t) {
    SpinTile& tile = tiles_[static_cast<std::size_t>(t)];
    for (int r = 0; r < tile.groups * kSpinChains; ++r) start_row(t, r);
    for (int g = 0; g < tile.groups; ++g) {
      const ChainCounts lost = units_lost(tile, static_cast<std::size_t>(g));
      for (int c = 0; c < kSpinChains; ++c) {
        const int r = g * kSpinChains + c;
        tile.units[r] = tile.best_units[r] = spins_.all_units - lost.of(bit(r));
      }
    }
    tile.best = tile.now;
    for (int r = 0; r < rows(t); ++r) {
      found_.logp[place(t, r)] = found_.last_logp[place(t, r)] = logp(tile.units[r]);
      found_.step[place(t, r)] = 0;
      unpack_best(t, r);
    }
  }

  void start_row(int t, int r) {
    SpinTile& tile = tiles_[static_cast<std::size_t>(t)];
    const int n = static_cast<int>(sites());
    const Stream stream(plan_.seed, chain(t) + static_cast<std::uint32_t>(r), 0, Purpose::start);
    for (int b = 0; b < Stream::blocks_for(n); ++b) {
      const PhiloxBlock words = stream.block(static_cast<std::uint32_t>(b));
      for (int w = 0; w < 4; ++w) {
        const int i = Stream::first_coordinate(b) + 16 * w;
        const std::uint64_t up = words[static_cast<std::size_t>(w)] >> 31;
        if (i < n) tile.now[word(static_cast<std::size_t>(i), r)] |= up << bit(r);
      }
    }
  }

  // What log p lacks to the sum of all |couplings| and |fields|, in units: twice those that are not
  // satisfied. Each coupling counts once at both of its ends.
  ChainCounts units_lost(const SpinTile& tile, std::size_t group) const {
    ChainCounts lost;
    for (std::size_t i = 0; i < sites(); ++i) {
      const std::uint64_t here = tile.now[i * static_cast<std::size_t>(spins_.words) + group];
      const ops::SpinSite& site = spins_.site[i];
      const std::uint32_t* entry = spins_.graph().entries(site);
      for (int e = 0; e < ops::kSpinBlock * (site.plus + site.minus); ++e) {
        if (entry[e] == spins_.filling()) continue;
        const std::uint64_t different = here ^ tile.now[entry[e] + group];
        lost.add(e < ops::kSpinBlock * site.plus ? different : ~different, 1);
      }
      const int field = spins_.field[i];
      lost.add(field < 0 ? here : ~here, 2 * static_cast<unsigned>(std::abs(field)));
    }
    return lost;
  }

  void step(int t, const ops::SpinOdds& odds, std::size_t k, Scratch& scratch) {
    SpinTile& tile = tiles_[static_cast<std::size_t>(t)];
    const auto order = scan_.order(plan_.seed, k, scratch);
    std::int32_t gain[kMostRows] = {};
    ops::active().gibbs_spins(spins_.graph(), odds, tile.now.data(), order.data(),
                              static_cast<int>(order.size()),
                              Stream(plan_.seed, chain(t), k, Purpose::level), tile.groups, gain);
    std::uint64_t better[ops::kMostWords] = {};
    for (int r = 0; r < tile.groups * kSpinChains; ++r) {
      tile.units[r] += 2 * gain[r];
      if (tile.units[r] <= tile.best_units[r]) continue;
      tile.best_units[r] = tile.units[r];
      better[r / kSpinChains] |= std::uint64_t{1} << bit(r);
      if (r < rows(t)) found_.step[place(t, r)] = k + 1;
    }
    for (int g = 0; g < tile.groups; ++g) {
      if (better[g]) keep(tile, g, better[g]);
    }
    for (int r = 0; r < rows(t); ++r) {
      found_.logp[place(t, r)] = logp(tile.best_units[r]);
      found_.last_logp[place(t, r)] = logp(tile.units[r]);
      if (!found_.trace.empty()) found_.trace[place(t, r)].push_back(logp(tile.units[r]));
    }
  }

  void keep(SpinTile& tile, int g, std::uint64_t better) const {
    const auto words = static_cast<std::size_t>(spins_.words);
    for (auto at = static_cast<std::size_t>(g); at < tile.now.size(); at += words) {
      tile.best[at] ^= (tile.best[at] ^ tile.now[at]) & better;
    }
  }

  void unpack_best(int t, int r) {
    const SpinTile& tile = tiles_[static_cast<std::size_t>(t)];
    Symbol* state = found_.state.view()[static_cast<int>(place(t, r))];
    for (std::size_t i = 0; i < sites(); ++i) {
      state[i] = static_cast<Symbol>(tile.best[word(i, r)] >> bit(r) & 1);
    }
  }

  double logp(std::int64_t units) const {
    return spins_.constant + spins_.unit * static_cast<double>(units);
  }

  std::uint32_t chain(int t) const {
    return plan_.first_restart + static_cast<std::uint32_t>(t * tile_rows());
  }
  std::size_t place(int t, int r) const { return static_cast<std::size_t>(t * tile_rows() + r); }

  std::shared_ptr<const Sampler> sampler_;
  Scan scan_;
  WholeSpins spins_;
  SearchPlan plan_;
  Found& found_;
  std::vector<SpinTile> tiles_;
  ThreadPool pool_;
  std::vector<Scratch> scratch_;
};

}  // namespace

std::unique_ptr<SearchChains> make_spin_chains(const Target& target,
                                               std::shared_ptr<const Sampler> sampler,
                                               const SearchPlan& plan, Found& found) {
  const auto* gibbs = dynamic_cast<const Gibbs*>(sampler.get());
  if (!gibbs || !sweeps(*gibbs, target)) return nullptr;
  const int groups = groups_of(plan);
  std::optional<WholeSpins> spins =
      whole_spins(target, words_for(groups, useful_threads(plan.threads, groups)));
  if (!spins) return nullptr;
  return std::make_unique<SpinChains>(target, std::move(sampler), std::move(*spins), plan, found);
}

}  // namespace saltus
