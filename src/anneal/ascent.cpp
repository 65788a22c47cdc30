#include "anneal/ascent.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/target/constraint.hpp"

namespace saltus {
namespace {

// Rounding must not look like an improvement, nor keep an ascent going for ever.
constexpr double kLeastGain = 1e-9, kLeastGainInSingle = 1e-4;
constexpr int kMostPasses = 1000;
constexpr double kMostPairs = 1e7;  // of a one and a place for it, in a pass

// Where the one of coordinate i may go.
Constraint::Group places_for(const Constraint& constraint, int i) {
  for (const Constraint::Group& g : constraint.groups()) {
    if (g.first <= i && i <= g.last) return g;
  }
  return {0, constraint.dim() - 1};
}

// Takes each one to its best place, until a pass changes nothing. Where there are no local moves,
// or the constraint is another one, the state stays as it is.
void ascend_by_swaps(const Target& target, const Constraint& constraint, double least, Symbol* x) {
  const double dim = constraint.dim(),
               ones = static_cast<double>(std::count(x, x + constraint.dim(), 1));
  const bool served = constraint.fixed_sum() ||
                      (constraint.kind() == Constraint::Kind::one_hot && constraint.free().empty());
  if (!served || !target.local_moves() || ones * dim > kMostPairs) return;
  bool moved = true;
  for (int pass = 0; moved && pass < kMostPasses; ++pass) {
    moved = false;
    Neighbourhood around(target, x);
    for (int i = 0; i < constraint.dim(); ++i) {
      if (x[i] == 0) continue;
      double best = -around.differences(i)[0] + least;
      int to = i;
      around.move(i, 0);
      const Constraint::Group places = places_for(constraint, i);
      for (int j = places.first; j <= places.last; ++j) {
        if (j == i || x[j] == 1) continue;
        const double gain = around.differences(j)[1];
        if (gain > best) best = gain, to = j;
      }
      around.move(to, 1);
      moved = moved || to != i;
    }
  }
}

}  // namespace

Neighbourhood::Neighbourhood(const Target& target, Symbol* x)
    : target_(target),
      moves_(target.local_moves()),
      x_(x),
      differences_(static_cast<std::size_t>(target.domain().max_levels())) {
  if (moves_ && moves_->need_score()) score_ = RowBuffer<float>(1, target.domain().score_size());
  if (moves_ && moves_->need_target_cache()) cache_ = RowBuffer<float>(1, target.cache_size());
  if (!moves_) changed_ = RowBuffer<Symbol>(target.domain().max_levels(), target.domain().dim());
  evaluate();
}

void Neighbourhood::evaluate() {
  const int dim = target_.domain().dim();
  const Rows<const Symbol> x{x_, 1, dim, padded(dim)};
  const bool kept = score_.view() || cache_.view();
  if (!moves_) target_.evaluate({0, 0, scratch_}, x, &logp_, {});
  if (kept) {
    target_.evaluate_and_cache({0, 0, scratch_}, x, nullptr, score_.view(), cache_.view());
  }
}

LocalRow Neighbourhood::row() {
  return {x_, score_.view() ? score_.view()[0] : nullptr,
          cache_.view() ? cache_.view()[0] : nullptr};
}

std::span<const double> Neighbourhood::differences(int i) {
  const int levels = target_.domain().levels(i), dim = target_.domain().dim();
  if (moves_) {
    moves_->differences(row(), i, 0, levels, differences_.data());
  } else {
    Rows<Symbol> rows = changed_.view();
    rows.rows = levels;
    for (int k = 0; k < levels; ++k) {
      std::copy_n(x_, dim, rows[k]);
      rows[k][i] = static_cast<Symbol>(k);
    }
    target_.evaluate({0, 0, scratch_}, rows, differences_.data(), {});
    for (double& d : differences_) d -= logp_;
  }
  differences_[x_[i]] = 0;
  return std::span(differences_).first(static_cast<std::size_t>(levels));
}

void Neighbourhood::move(int i, Symbol to) {
  if (moves_) return moves_->move(row(), i, to);
  logp_ += differences_[to];
  x_[i] = to;
}

void greedy_ascent(const Target& target, Symbol* x) {
  const bool single = !target.local_moves() || !target.local_moves()->in_double();
  const double least = single ? kLeastGainInSingle : kLeastGain;
  if (target.constraint()) return ascend_by_swaps(target, *target.constraint(), least, x);
  bool moved = true;
  for (int pass = 0; moved && pass < kMostPasses; ++pass) {
    moved = false;
    Neighbourhood around(target, x);  // anew in each pass: what is kept carries rounding
    for (int i = 0; i < target.domain().dim(); ++i) {
      const std::span<const double> gains = around.differences(i);
      const auto better = std::ranges::find_if(gains, [&](double g) { return g > least; });
      if (better == gains.end()) continue;
      around.move(i, static_cast<Symbol>(better - gains.begin()));
      moved = true;
    }
  }
}

}  // namespace saltus
