#include "sampler/constrained/pair_gibbs.hpp"

#include <algorithm>
#include <cmath>

#include "core/draw_place.hpp"
#include "saltus/core/error.hpp"
#include "saltus/diagnose/exact.hpp"
#include "sampler/constrained/additions.hpp"
#include "sampler/constrained/conditional_updates.hpp"

namespace saltus {
namespace {

enum Change : std::size_t { stays, first, second, both };

int below(double u, int n) {
  return std::min(static_cast<int>(u * n), n - 1);
}

Symbol flipped(Symbol level) {
  return static_cast<Symbol>(1 - level);
}

}  // namespace

PairGibbs::PairGibbs(Constraint constraint, int updates)
    : constraint_(std::move(constraint)), updates_(updates) {
  if (updates_ < 0) throw UsageError("updates must be at least 1");
  if (updates_ == 0) updates_ = std::max(1, constraint_.dim() / 2);
}

std::vector<Parameter> PairGibbs::parameters() const {
  return {{"updates", std::int64_t{updates_}}};
}

std::string PairGibbs::missing(const Target& target) const {
  if (!target.constraint()) return "a constraint";
  return Sampler::missing(target);
}

Sampler::Needs PairGibbs::needs(const Target& target) const {
  return Additions::needs(target, false);
}

PairGibbs::Changes PairGibbs::allowed(const Symbol* x, int ones, int i, int j) const {
  Changes changes;
  changes.fill(-INFINITY);
  changes[stays] = 0;
  const int more_i = x[i] ? -1 : 1, more_j = x[j] ? -1 : 1;
  const bool counted = constraint_.kind() != Constraint::Kind::one_hot;
  const auto allow = [&](Change change, bool keeps) {
    if (keeps) changes[change] = 0;
  };
  allow(first, counted ? constraint_.allows_ones(ones + more_i)
                       : std::ranges::binary_search(constraint_.free(), i));
  if (i == j) return changes;
  allow(second, counted && constraint_.allows_ones(ones + more_j));
  allow(both, counted ? constraint_.allows_ones(ones + more_i + more_j) : more_i + more_j == 0);
  return changes;
}

void PairGibbs::add_differences(const Target& target, Workspace& work, const LocalRow& row,
                                std::uint64_t step, int i, int j, Changes& changes) const {
  const bool one = changes[first] == 0, other = changes[second] == 0, pair = changes[both] == 0;
  const Symbol to_i = flipped(row.x[i]), to_j = flipped(row.x[j]);
  if (const LocalMoves* moves = target.local_moves()) {
    double by_i = 0, by_j = 0;
    if (one || pair) moves->differences(row, i, to_i, 1, &by_i);
    if (one) changes[first] = by_i;
    if (other) moves->differences(row, j, to_j, 1, &changes[second]);
    if (pair) {
      moves->move(row, i, to_i);
      moves->differences(row, j, to_j, 1, &by_j);
      moves->move(row, i, flipped(to_i));
      changes[both] = by_i + by_j;
    }
    work.evaluations.local += std::uint64_t{one || pair} + other + pair;
    return;
  }
  const int dim = constraint_.dim();
  Rows<Symbol> states{
      work.sampler_scratch.get<Symbol>(1, changes.size() * static_cast<std::size_t>(padded(dim))),
      0, dim, padded(dim)};
  std::array<std::size_t, 4> place{};
  for (std::size_t c = 0; c < changes.size(); ++c) {
    if (changes[c] != 0) continue;
    Symbol* y = states.data + static_cast<std::ptrdiff_t>(states.rows) * states.stride;
    std::copy_n(row.x, dim, y);
    if (c == first || c == both) y[i] = to_i;
    if (c == second || c == both) y[j] = to_j;
    place[static_cast<std::size_t>(states.rows++)] = c;
  }
  std::array<double, 4> logp{};
  target.evaluate(work.at(step), states, logp.data(), {});
  for (std::size_t k = 0; k < static_cast<std::size_t>(states.rows); ++k)
    changes[place[k]] = logp[k];
  work.evaluations.logp += static_cast<std::uint64_t>(states.rows);
}

void PairGibbs::step(const Target& target, Tile& tile, Workspace& work,
                     std::span<StepInfo> info) const {
  const Additions additions(target, work, tile.step);
  const int dim = constraint_.dim();
  bool any = false;
  for (int r = 0; r < tile.rows(); ++r) {
    const Stream stream = work.stream(tile, r, Purpose::propose);
    const LocalRow row = additions.row(tile, r);
    int ones = static_cast<int>(std::count(row.x, row.x + dim, Symbol{1}));
    std::uint32_t number = 0, changed = 0;
    const auto flip = [&](int i) {
      ones += row.x[i] ? -1 : 1;
      additions.set(row, i, flipped(row.x[i]));
      ++changed;
    };
    for (int u = 0; u < updates_; ++u, number += 3) {
      const int i = below(stream.uniform(number), dim);
      const auto [begin, end] = constraint_.partners(i);
      int j = i;
      if (end > begin) j = begin + below(stream.uniform(number + 1), end - begin);
      if (end > begin && j >= i) ++j;
      Changes changes = allowed(row.x, ones, i, j);
      if (std::ranges::count(changes, 0.0) == 1) continue;
      add_differences(target, work, row, tile.step, i, j, changes);
      const std::size_t drawn = draw_by_logs(changes, stream.uniform(number + 2));
      if (drawn == first || drawn == both) flip(i);
      if (drawn == second || drawn == both) flip(j);
    }
    any |= changed > 0;
    info[static_cast<std::size_t>(r)] = {1.0, static_cast<std::uint32_t>(2 * updates_), changed,
                                         true, false};
  }
  finish_updates(target, tile, work, any);
}

void PairGibbs::transition_matrix(const StateTable& table, const When&, Rows<double> matrix,
                                  std::span<double> acceptance) const {
  const int n = static_cast<int>(table.size()), dim = table.domain().dim();
  const RowBuffer<double> one(n, n);
  std::vector<Symbol> y(static_cast<std::size_t>(dim));
  const auto add_pair = [&](int s, int i, int j, double probability) {
    const Symbol* x = table.state(static_cast<std::size_t>(s));
    const int ones = static_cast<int>(std::count(x, x + dim, Symbol{1}));
    Changes changes = allowed(x, ones, i, j);
    std::array<std::size_t, 4> to{};
    for (std::size_t c = 0; c < changes.size(); ++c) {
      if (changes[c] != 0) continue;
      std::copy_n(x, dim, y.data());
      if (c == first || c == both) y[static_cast<std::size_t>(i)] = flipped(x[i]);
      if (c == second || c == both) y[static_cast<std::size_t>(j)] = flipped(x[j]);
      to[c] = table.index(y.data());
      changes[c] = table.logp(to[c]);
    }
    if (std::ranges::max(changes) == -INFINITY) {  // only from a forbidden state
      one.view()[s][s] += probability;
      return;
    }
    const double sum = take_exp(changes);
    for (std::size_t c = 0; c < changes.size(); ++c) {
      if (changes[c] > 0) one.view()[s][to[c]] += probability * changes[c] / sum;
    }
  };
  for (int s = 0; s < n; ++s) {
    for (int i = 0; i < dim; ++i) {
      const auto [begin, end] = constraint_.partners(i);
      if (begin == end) add_pair(s, i, i, 1.0 / dim);
      for (int j = begin; j <= end; ++j) {
        if (j != i) add_pair(s, i, j, 1.0 / dim / (end - begin));
      }
    }
  }
  take_power(one.view(), updates_, matrix);
  std::ranges::fill(acceptance, 1.0);
}

}  // namespace saltus
