// From any state to one that no factor forbids: by ancestral draws, where tables are those of a
// Bayesian network or like them, and by min-conflicts (Minton et al. 1992) with random moves in
// between.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/draw_place.hpp"
#include "saltus/core/philox.hpp"
#include "saltus/target/factors.hpp"

namespace saltus {
namespace {

constexpr int kAncestralTries = 100;
constexpr std::uint32_t kAncestralNumbers = 1u << 31;  // of the stream: the first one
constexpr int kRestarts = 10;
constexpr std::uint64_t kMovesPerCoordinate = 1000;
constexpr double kRandomMoves = 0.3;

std::size_t number(std::ptrdiff_t i) {
  return static_cast<std::size_t>(i);
}

}  // namespace

// Coordinates in their order, parents before their child: the last coordinate of each table. Where
// the tables know of no order, lower numbers come first.
std::vector<std::int32_t> Factors::ancestral_order() const {
  const std::size_t dim = number(domain_.dim());
  std::vector<std::size_t> parents(dim);
  for (std::size_t t = 0; t < model_.tables(); ++t) {
    parents[number(model_.scope(t).back())] += model_.scope(t).size() - 1;
  }
  std::vector<std::int32_t> order;
  std::vector<bool> placed(dim);
  const auto place = [&](std::int32_t i) {
    placed[number(i)] = true;
    order.push_back(i);
  };
  for (std::int32_t i = 0; i < domain_.dim(); ++i) {
    if (parents[number(i)] == 0) place(i);
  }
  std::int32_t lowest = 0;
  for (std::size_t next = 0; next < dim; ++next) {
    if (next == order.size()) {  // a cycle
      while (placed[number(lowest)]) ++lowest;
      place(lowest);
    }
    const std::size_t i = number(order[next]);
    for (std::size_t e = ends_begin_[i]; e < ends_begin_[i + 1]; ++e) {
      const std::int32_t child = model_.scope(number(ends_[e].table)).back();
      if (child == order[next] || --parents[number(child)] > 0 || placed[number(child)]) continue;
      place(child);
    }
  }
  return order;
}

// Draws the coordinates in that order, each from the product of the factors that it completes:
// those of a network give the child's law given its parents, and the weight of what is known below.
class Factors::Ancestral {
 public:
  Ancestral(const Factors& factors, const Stream& stream)
      : f_(factors),
        stream_(stream),
        order_(factors.ancestral_order()),
        x_(order_.size()),
        weights_(number(f_.domain_.max_levels())) {}

  // False, and x as before, where every try met a level that has no probability left.
  bool run(Symbol* x) {
    for (int attempt = 0; attempt < kAncestralTries; ++attempt) {
      if (!draw_all()) continue;
      std::copy(x_.begin(), x_.end(), x);
      return true;
    }
    return false;
  }

 private:
  bool draw_all() {
    left_of_table_.clear();
    for (std::size_t t = 0; t < f_.model_.tables(); ++t) {
      left_of_table_.push_back(f_.model_.scope(t).size());
    }
    left_of_clause_.assign(f_.model_.clauses(), 0);
    for (const std::int32_t clause : f_.clauses_of_) ++left_of_clause_[number(clause)];
    return std::ranges::all_of(order_, [this](std::int32_t i) { return draw(i); });
  }

  bool draw(std::int32_t i) {
    const std::size_t levels = number(f_.domain_.levels(i)), at = number(i);
    const double* unary = f_.unary_.data() + f_.levels_begin(i);
    std::copy_n(unary, levels, weights_.begin());
    x_[at] = 0;
    for (std::size_t e = f_.ends_begin_[at]; e < f_.ends_begin_[at + 1]; ++e) {
      const std::size_t table = number(f_.ends_[e].table);
      if (--left_of_table_[table] > 0) continue;
      const double* column = f_.model_.entries.data() + f_.entry_of(table, x_.data());
      for (std::size_t k = 0; k < levels; ++k) {
        weights_[k] += column[k * number(f_.ends_[e].stride)];
      }
    }
    for (std::size_t e = f_.clauses_begin_[at]; e < f_.clauses_begin_[at + 1]; ++e) {
      const std::size_t clause = number(f_.clauses_of_[e]);
      if (--left_of_clause_[clause] > 0) continue;
      for (std::size_t k = 0; k < levels; ++k) {
        x_[at] = static_cast<Symbol>(k);
        const Literal* holder = nullptr;
        if (f_.holding(clause, x_.data(), -1, &holder) == 0) {
          weights_[k] -= f_.model_.weights[clause];
        }
      }
    }
    return choose(at, levels);
  }

  bool choose(std::size_t at, std::size_t levels) {
    const std::span weights = std::span(weights_).first(levels);
    if (std::ranges::max(weights) < -f_.penalty_ / 2) return false;
    x_[at] =
        static_cast<Symbol>(draw_by_logs(weights, stream_.uniform(kAncestralNumbers + next_++)));
    return true;
  }

  const Factors& f_;
  const Stream& stream_;
  std::uint32_t next_ = 0;
  std::vector<std::int32_t> order_;
  std::vector<Symbol> x_;
  std::vector<double> weights_;
  std::vector<std::size_t> left_of_table_, left_of_clause_;  // coordinates without a level
};

// Keeps a list of the factors that forbid the present state: those of single coordinates come
// first, then tables, then clauses.
class Factors::Repair {
 public:
  Repair(const Factors& factors, const Stream& stream, Symbol* x)
      : f_(factors),
        domain_(factors.domain_),
        stream_(stream),
        x_(x),
        place_(number(domain_.dim()) + f_.model_.tables() + f_.model_.clauses(), -1),
        changes_(number(domain_.max_levels())) {}

  bool run() {
    for (int attempt = 0; attempt < kRestarts; ++attempt) {
      if (attempt > 0) start_anew();
      for (std::size_t factor = 0; factor < place_.size(); ++factor) note(factor);
      const std::uint64_t moves = kMovesPerCoordinate * number(domain_.dim());
      for (std::uint64_t m = 0; m < moves && !forbidding_.empty(); ++m) {
        if (!move(forbidding_[below(forbidding_.size())])) return false;
      }
      if (forbidding_.empty()) return true;
    }
    return false;
  }

 private:
  std::size_t below(std::size_t n) {
    return std::min(static_cast<std::size_t>(uniform() * static_cast<double>(n)), n - 1);
  }
  double uniform() { return stream_.uniform(next_++); }

  void start_anew() {
    for (int i = 0; i < domain_.dim(); ++i) {
      x_[i] = static_cast<Symbol>(below(number(domain_.levels(i))));
    }
  }

  bool forbids(std::size_t factor) const {
    const double limit = f_.penalty_ / 2;
    const std::size_t dim = number(domain_.dim()), tables = f_.model_.tables();
    if (factor < dim) {
      const int i = static_cast<int>(factor);
      return f_.unary_[f_.levels_begin(i) + x_[i]] < -limit;
    }
    if (factor < dim + tables) return f_.model_.entries[f_.entry_of(factor - dim, x_)] < -limit;
    const std::size_t clause = factor - dim - tables;
    const Literal* holder = nullptr;
    return f_.model_.weights[clause] > limit && f_.holding(clause, x_, -1, &holder) == 0;
  }

  void note(std::size_t factor) {
    const bool now = forbids(factor), before = place_[factor] >= 0;
    if (now == before) return;
    if (now) {
      place_[factor] = static_cast<std::ptrdiff_t>(forbidding_.size());
      forbidding_.push_back(factor);
      return;
    }
    const std::size_t last = forbidding_.back();
    forbidding_[number(place_[factor])] = last;
    place_[last] = place_[factor];
    place_[factor] = -1;
    forbidding_.pop_back();
  }

  void set(int i, Symbol to) {
    const std::size_t dim = number(domain_.dim()), tables = f_.model_.tables();
    x_[i] = to;
    note(number(i));
    for (std::size_t e = f_.ends_begin_[number(i)]; e < f_.ends_begin_[number(i) + 1]; ++e) {
      note(dim + number(f_.ends_[e].table));
    }
    for (std::size_t e = f_.clauses_begin_[number(i)]; e < f_.clauses_begin_[number(i) + 1]; ++e) {
      note(dim + tables + number(f_.clauses_of_[e]));
    }
  }

  // The coordinates of a factor that can change.
  void read_scope(std::size_t factor) {
    const std::size_t dim = number(domain_.dim()), tables = f_.model_.tables();
    scope_.clear();
    const auto add = [&](int i) {
      if (domain_.levels(i) > 1 && (scope_.empty() || scope_.back() != i)) scope_.push_back(i);
    };
    if (factor < dim) {
      add(static_cast<int>(factor));
    } else if (factor < dim + tables) {
      for (const std::int32_t i : f_.model_.scope(factor - dim)) add(i);
    } else {
      for (const Literal& l : f_.model_.clause(factor - dim - tables)) add(l.coordinate);
    }
  }

  // False where the factor has nothing that could change.
  bool move(std::size_t factor) {
    read_scope(factor);
    if (scope_.empty()) return false;
    if (uniform() < kRandomMoves) {
      const int i = scope_[below(scope_.size())];
      set(i, static_cast<Symbol>(below(number(domain_.levels(i)))));
      return true;
    }
    double least = std::numeric_limits<double>::infinity();
    std::size_t ties = 0;
    int best = 0;
    Symbol level = 0;
    for (const int i : scope_) {
      f_.differences({x_, nullptr, nullptr}, i, 0, domain_.levels(i), changes_.data());
      for (int k = 0; k < domain_.levels(i); ++k) {
        if (k == x_[i]) continue;
        const double more = std::nearbyint(-changes_[number(k)] / f_.penalty_);
        if (more > least) continue;
        ties = more < least ? 1 : ties + 1;
        least = more;
        if (below(ties) == 0) best = i, level = static_cast<Symbol>(k);
      }
    }
    set(best, level);
    return true;
  }

  const Factors& f_;
  const Domain& domain_;
  const Stream& stream_;
  Symbol* x_;
  std::uint32_t next_ = 0;
  std::vector<std::ptrdiff_t> place_;  // of each factor in forbidding_, or -1
  std::vector<std::size_t> forbidding_;
  std::vector<int> scope_;
  std::vector<double> changes_;
};

bool Factors::make_allowed(const Stream& stream, Symbol* x) const {
  if (!forbids_ || logp_of(*this, x) != -INFINITY) return true;
  if (model_.tables() > 0 && Ancestral(*this, stream).run(x)) return true;
  return Repair(*this, stream, x).run();
}

}  // namespace saltus
