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

// The best change of coordinate i, alone or with another one, among those that the constraint
// allows, again and again until a pass changes nothing. Under a constraint on the sum pairs begin
// with a one. Where there are no local moves, or too many pairs, the state stays as it is.
class ConstrainedAscent {
 public:
  ConstrainedAscent(const Target& target, const Constraint& constraint, double least, Symbol* x)
      : target_(target),
        constraint_(constraint),
        least_(least),
        x_(x),
        ones_(static_cast<int>(std::count(x, x + constraint.dim(), 1))) {}

  void run() {
    const double dim = constraint_.dim(), first = of_parity() ? dim / 2 : ones_;
    if (!target_.local_moves() || first * dim > kMostPairs) return;
    bool moved = true;
    for (int pass = 0; moved && pass < kMostPasses; ++pass) {
      moved = false;
      Neighbourhood around(target_, x_);
      for (int i = 0; i < constraint_.dim(); ++i) moved |= improve(around, i);
    }
  }

 private:
  bool of_parity() const { return constraint_.kind() == Constraint::Kind::parity; }
  bool one_hot() const { return constraint_.kind() == Constraint::Kind::one_hot; }
  int more(int i) const { return x_[i] ? -1 : 1; }

  void flip(Neighbourhood& around, int i) {
    ones_ += more(i);
    around.move(i, static_cast<Symbol>(1 - x_[i]));
  }

  bool improve(Neighbourhood& around, int i) {
    const bool alone = one_hot() ? std::ranges::binary_search(constraint_.free(), i)
                                 : constraint_.allows_ones(ones_ + more(i));
    const bool pairs = of_parity() || x_[i] == 1;
    if (!alone && !pairs) return false;
    const double change = around.differences(i)[1 - x_[i]];
    double best = least_;
    int partner = -1;
    if (alone && change > best) best = change, partner = i;
    flip(around, i);
    const Constraint::Group places = pairs ? constraint_.partners(i) : Constraint::Group{i, i};
    for (int j = of_parity() ? i + 1 : places.first; j <= places.last; ++j) {
      if (j == i || !(one_hot() ? x_[j] == 0 : constraint_.allows_ones(ones_ + more(j)))) continue;
      const double both = change + around.differences(j)[1 - x_[j]];
      if (both > best) best = both, partner = j;
    }
    if (partner != i) flip(around, partner < 0 ? i : partner);
    return partner >= 0;
  }

  const Target& target_;
  const Constraint& constraint_;
  double least_;
  Symbol* x_;
  int ones_;
};

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
  if (target.constraint()) return ConstrainedAscent(target, *target.constraint(), least, x).run();
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
