// Restarts of spins with small whole couplings, 64 to a vector of bytes (ops/gibbs/spins.hpp).
#include <algorithm>
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
  std::vector<std::int64_t> begin{0}, minus;
  std::vector<std::uint32_t> offset;
  std::vector<std::int8_t> field;
  std::int64_t most = 0;  // the largest sum of couplings and field of a spin, in units

  ops::SpinGraph graph() const {
    return {static_cast<int>(field.size()), begin.data(), minus.data(), offset.data(),
            field.data()};
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
std::optional<WholeSpins> whole_spins(const Target& target) {
  const auto* quadratic = dynamic_cast<const Quadratic*>(&target);
  if (!quadratic || target.domain().first_value() != -1 || !target.domain().two_level()) {
    return std::nullopt;
  }
  constexpr int kMostSpins = 1 << 24;  // whose offsets, and 2^31 updates of a sweep, have 32 bits
  if (target.domain().dim() > kMostSpins) return std::nullopt;
  const QuadraticModel model = quadratic->model();
  const std::optional<double> unit = unit_of(model);
  if (!unit) return std::nullopt;
  WholeSpins spins;
  spins.unit = *unit;
  const auto n = static_cast<std::size_t>(target.domain().dim());
  std::vector<std::vector<std::uint32_t>> plus(n), minus(n);
  const auto offset = [](int i) { return static_cast<std::uint32_t>(i) * kSpinChains; };
  for (const Coupling& c : model.couplings) {
    if (c.i == c.j) return std::nullopt;
    const auto units = static_cast<std::size_t>(std::lround(std::abs(c.weight) / *unit));
    auto& of = c.weight > 0 ? plus : minus;
    auto &at_i = of[static_cast<std::size_t>(c.i)], &at_j = of[static_cast<std::size_t>(c.j)];
    at_i.insert(at_i.end(), units, offset(c.j));
    at_j.insert(at_j.end(), units, offset(c.i));
  }
  for (std::size_t i = 0; i < n; ++i) {
    const long field = std::lround(model.field[i] / *unit);
    const std::size_t most = plus[i].size() + minus[i].size();
    const auto largest = static_cast<std::int64_t>(most) + std::abs(field);
    if (largest > ops::kMostField || std::abs(field) > ops::kMostInByte) return std::nullopt;
    spins.most = std::max(spins.most, largest);
    spins.field.push_back(static_cast<std::int8_t>(field));
    spins.offset.insert(spins.offset.end(), plus[i].begin(), plus[i].end());
    spins.minus.push_back(static_cast<std::int64_t>(spins.offset.size()));
    spins.offset.insert(spins.offset.end(), minus[i].begin(), minus[i].end());
    spins.begin.push_back(static_cast<std::int64_t>(spins.offset.size()));
  }
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
std::vector<std::uint64_t> odds_at(double beta, double unit, std::int64_t most) {
  std::vector<std::uint64_t> odds;
  for (std::int64_t f = 0; f <= std::max<std::int64_t>(most, ops::kMostInByte); ++f) {
    const double p = 1 / (1 + std::exp(2 * beta * unit * static_cast<double>(f)));
    odds.push_back(static_cast<std::uint64_t>(std::llround(std::ldexp(p, 40))));
  }
  return odds;
}

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
    const int bytes = target.domain().dim() * kSpinChains;
    for (int t = 0; t < tiles(); ++t) tiles_.emplace_back(bytes);
  }

  void start() override {
    pool_.for_each(tiles(), [&](int t, int) { start_tile(t); });
  }

  void advance(std::span<const double> betas, std::size_t first) override {
    std::vector<std::vector<std::uint64_t>> odds;
    for (const double b : betas) odds.push_back(odds_at(b, spins_.unit, spins_.most));
    pool_.for_each(tiles(), [&](int t, int thread) {
      for (std::size_t k = 0; k < odds.size(); ++k) {
        step(t, {odds[k].data()}, first + k, scratch_[static_cast<std::size_t>(thread)]);
      }
      for (int r = 0; r < rows(t); ++r) {
        if (found_.step[place(t, r)] > first) unpack_best(t, r);
      }
    });
  }

  std::shared_ptr<const Sampler> sampler() const override { return sampler_; }

  std::size_t round() const override {
    const std::size_t updates =
        static_cast<std::size_t>(tiles()) * kSpinChains * spins_.field.size();
    return std::clamp<std::size_t>(kLaneUpdates / updates, 1, kLaneSteps);
  }

 private:
  struct SpinTile {
    explicit SpinTile(int bytes) : now(1, bytes), best(1, bytes) {}
    RowBuffer<std::int8_t> now, best;
    // log p in units, as whole numbers: exact.
    std::int64_t units[kSpinChains] = {}, best_units[kSpinChains] = {};
  };

  int tiles() const { return (plan_.restarts + kSpinChains - 1) / kSpinChains; }
  int rows(int t) const { return std::min(kSpinChains, plan_.restarts - t * kSpinChains); }
  std::size_t sites() const { return spins_.field.size(); }

  // The states of Ensemble::start_random, with their log p.
  void start_tile(int t) {
    SpinTile& tile = tiles_[static_cast<std::size_t>(t)];
    std::int8_t* now = tile.now.view().data;
    for (int c = 0; c < kSpinChains; ++c) {
      const Stream stream(plan_.seed, chain(t) + static_cast<std::uint32_t>(c), 0, Purpose::start);
      for (std::size_t i = 0; i < sites(); ++i) {
        const bool up = stream.word(static_cast<std::uint32_t>(i)) >> 31;
        now[i * kSpinChains + static_cast<std::size_t>(ops::spin_lane(c))] = up ? 1 : -1;
      }
      tile.units[c] = tile.best_units[c] = units(now + ops::spin_lane(c));
    }
    std::copy_n(now, sites() * kSpinChains, tile.best.view().data);
    for (int r = 0; r < rows(t); ++r) {
      found_.logp[place(t, r)] = found_.last_logp[place(t, r)] = logp(tile.units[r]);
      found_.step[place(t, r)] = 0;
      unpack_best(t, r);
    }
  }

  // Of one chain. Each coupling counts at both of its ends.
  std::int64_t units(const std::int8_t* s) const {
    std::int64_t twice = 0;
    for (std::size_t i = 0; i < sites(); ++i) {
      std::int64_t field = 2 * spins_.field[i];
      for (auto e = spins_.begin[i]; e < spins_.begin[i + 1]; ++e) {
        const int other = s[spins_.offset[static_cast<std::size_t>(e)]];
        field += e < spins_.minus[i] ? other : -other;
      }
      twice += s[i * kSpinChains] * field;
    }
    return twice / 2;
  }

  void step(int t, const ops::SpinOdds& odds, std::size_t k, Scratch& scratch) {
    SpinTile& tile = tiles_[static_cast<std::size_t>(t)];
    const auto order = scan_.order(plan_.seed, k, scratch);
    std::int32_t gain[kSpinChains] = {};
    ops::active().gibbs_spins(spins_.graph(), odds, tile.now.view().data, order.data(),
                              static_cast<int>(order.size()),
                              Stream(plan_.seed, chain(t), k, Purpose::level), gain);
    std::int8_t better[kSpinChains] = {};  // all ones, by byte
    bool any = false;
    for (int c = 0; c < kSpinChains; ++c) {
      tile.units[c] += 2 * gain[c];
      if (tile.units[c] <= tile.best_units[c]) continue;
      tile.best_units[c] = tile.units[c];
      better[ops::spin_lane(c)] = -1;
      any = true;
    }
    if (any) keep(tile, better);
    for (int r = 0; r < rows(t); ++r) {
      if (better[ops::spin_lane(r)]) found_.step[place(t, r)] = k + 1;
      found_.logp[place(t, r)] = logp(tile.best_units[r]);
      found_.last_logp[place(t, r)] = logp(tile.units[r]);
      if (!found_.trace.empty()) found_.trace[place(t, r)].push_back(logp(tile.units[r]));
    }
  }

  static void keep(SpinTile& tile, const std::int8_t* better) {
    const std::int8_t* now = tile.now.view().data;
    std::int8_t* best = tile.best.view().data;
    const auto bytes = static_cast<std::size_t>(tile.now.view().cols);
    for (std::size_t at = 0; at < bytes; at += kSpinChains) {
      for (std::size_t b = 0; b < kSpinChains; ++b) {
        best[at + b] =
            static_cast<std::int8_t>((now[at + b] & better[b]) | (best[at + b] & ~better[b]));
      }
    }
  }

  void unpack_best(int t, int r) {
    const std::int8_t* best = tiles_[static_cast<std::size_t>(t)].best.view().data;
    Symbol* state = found_.state.view()[static_cast<int>(place(t, r))];
    for (std::size_t i = 0; i < sites(); ++i) {
      state[i] = best[i * kSpinChains + static_cast<std::size_t>(ops::spin_lane(r))] > 0;
    }
  }

  double logp(std::int64_t units) const { return spins_.unit * static_cast<double>(units); }

  std::uint32_t chain(int t) const {
    return plan_.first_restart + static_cast<std::uint32_t>(t * kSpinChains);
  }
  std::size_t place(int t, int r) const { return static_cast<std::size_t>(t * kSpinChains + r); }

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
  std::optional<WholeSpins> spins = whole_spins(target);
  if (!spins) return nullptr;
  return std::make_unique<SpinChains>(target, std::move(sampler), std::move(*spins), plan, found);
}

}  // namespace saltus
