#include "sampler/constrained/remove_add.hpp"

#include <algorithm>
#include <cmath>

#include "core/draw_place.hpp"
#include "saltus/core/error.hpp"
#include "saltus/diagnose/exact.hpp"
#include "saltus/sampler/settings.hpp"
#include "sampler/constrained/additions.hpp"
#include "sampler/constrained/conditional_updates.hpp"
#include "sampler/constrained/entries.hpp"
#include "sampler/constrained/pair_gibbs.hpp"

namespace saltus {
namespace {

constexpr double kMostDifferences = 1e6;  // of a step, unless updates are given

}  // namespace

RemoveAdd::RemoveAdd(Constraint constraint, int updates)
    : constraint_(std::move(constraint)), updates_(updates) {
  if (updates_ < 0) throw UsageError("updates must be at least 1");
  if (updates_ == 0) {
    const int affordable = static_cast<int>(kMostDifferences / constraint_.dim());
    updates_ = std::max(1, std::min(units(), affordable));
  }
}

int RemoveAdd::units() const {
  if (constraint_.kind() != Constraint::Kind::one_hot) return constraint_.low();
  return static_cast<int>(constraint_.groups().size());
}

std::vector<Parameter> RemoveAdd::parameters() const {
  return {{"updates", std::int64_t{updates_}}};
}

bool RemoveAdd::serves(const Constraint& constraint) {
  return constraint.fixed_sum() ||
         (constraint.kind() == Constraint::Kind::one_hot && constraint.free().empty());
}

std::string RemoveAdd::missing(const Target& target) const {
  if (!target.constraint() || !serves(*target.constraint())) {
    return "a constraint sum=K, or one-hot with every coordinate in a group";
  }
  return Sampler::missing(target);
}

Sampler::Needs RemoveAdd::needs(const Target& target) const {
  return Additions::needs(target, false);
}

int RemoveAdd::places_of(const Symbol* x, int unit, std::span<std::int32_t> places,
                         int& count) const {
  count = 0;
  int one = 0;
  if (constraint_.kind() == Constraint::Kind::one_hot) {
    const Constraint::Group& g = constraint_.groups()[static_cast<std::size_t>(unit)];
    for (int i = g.first; i <= g.last; ++i) {
      places[static_cast<std::size_t>(count++)] = i;
      if (x[i]) one = i;
    }
    return one;
  }
  for (int i = 0; i < constraint_.dim(); ++i) {
    if (x[i] && unit-- != 0) continue;
    if (x[i]) one = i;
    places[static_cast<std::size_t>(count++)] = i;
  }
  return one;
}

void RemoveAdd::step(const Target& target, Tile& tile, Workspace& work,
                     std::span<StepInfo> info) const {
  const Additions additions(target, work, tile.step);
  const auto dim = static_cast<std::size_t>(tile.x.cols);
  const std::span places(work.sampler_scratch.get<std::int32_t>(3, dim), dim);
  const std::span values(work.sampler_scratch.get<double>(4, dim), dim);
  bool any = false;
  for (int r = 0; r < tile.rows(); ++r) {
    const Stream stream = work.stream(tile, r, Purpose::propose);
    const LocalRow row = additions.row(tile, r);
    std::uint32_t number = 0, changed = 0;
    for (int u = 0; u < updates_; ++u) {
      const int unit = std::min(static_cast<int>(stream.uniform(number++) * units()), units() - 1);
      int count = 0;
      const int from = places_of(row.x, unit, places, count);
      const std::span<double> weights = values.first(static_cast<std::size_t>(count));
      additions.compute(row, from, places.first(weights.size()), weights.data());
      const std::size_t k = draw_by_logs(weights, stream.uniform(number++));
      additions.set(row, places[k], 1);
      if (places[k] != from) changed += 2;
    }
    any |= changed > 0;
    info[static_cast<std::size_t>(r)] = {1.0, static_cast<std::uint32_t>(2 * updates_), changed,
                                         true, false};
  }
  finish_updates(target, tile, work, any);
}

void RemoveAdd::transition_matrix(const StateTable& table, const When&, Rows<double> matrix,
                                  std::span<double> acceptance) const {
  const std::size_t dim = static_cast<std::size_t>(table.domain().dim());
  const int n = static_cast<int>(table.size());
  const RowBuffer<double> one(n, n);
  std::vector<std::int32_t> places(dim);
  for (int s = 0; s < n; ++s) {
    std::vector<Symbol> y(table.state(static_cast<std::size_t>(s)),
                          table.state(static_cast<std::size_t>(s)) + dim);
    for (int unit = 0; unit < units(); ++unit) {
      int count = 0;
      const int from = places_of(table.state(static_cast<std::size_t>(s)), unit, places, count);
      y[static_cast<std::size_t>(from)] = 0;
      std::vector<double> weights;
      std::vector<std::size_t> to;
      for (int k = 0; k < count; ++k) {
        Symbol& level = y[static_cast<std::size_t>(places[static_cast<std::size_t>(k)])];
        level = 1;
        to.push_back(table.index(y.data()));
        weights.push_back(table.logp(to.back()));
        level = 0;
      }
      y[static_cast<std::size_t>(from)] = 1;
      if (std::ranges::max(weights) == -INFINITY) {  // only from a forbidden state
        one.view()[s][s] += 1.0 / units();
        continue;
      }
      const double sum = take_exp(weights) * units();
      for (std::size_t k = 0; k < to.size(); ++k) one.view()[s][to[k]] += weights[k] / sum;
    }
  }
  take_power(one.view(), updates_, matrix);
  std::ranges::fill(acceptance, 1.0);
}

SamplerEntry constrained_gibbs_entry() {
  return {"gibbs",
          "takes a one away and puts it where the conditional law does, or draws pairs: exact",
          {"updates"},
          [](const Target& target, const Settings& settings) -> std::unique_ptr<Sampler> {
            const auto updates = integer_setting(settings, "updates");
            if (updates && *updates < 1) throw UsageError("updates must be at least 1");
            // Without local moves every change is an evaluation.
            const int usual = target.local_moves() ? 0 : 1;
            const Constraint& c = *target.constraint();
            if (RemoveAdd::serves(c)) {
              return std::make_unique<RemoveAdd>(c, updates.value_or(usual));
            }
            return std::make_unique<PairGibbs>(c, updates.value_or(usual));
          }};
}

}  // namespace saltus
