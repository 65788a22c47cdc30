#include "saltus/model/condition.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "saltus/core/error.hpp"
#include "saltus/target/ising_lattice.hpp"

namespace saltus {
namespace {

std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}

// A table over coordinates of which some are given, read at the states of the free ones.
class Slice {
 public:
  Slice(std::span<const std::int32_t> scope, const GivenValues& given) {
    std::size_t stride = 1;
    for (auto i = scope.rbegin(); i != scope.rend(); ++i) {
      const auto levels = at(given.domain().levels(*i));
      if (given.is_given(*i)) {
        first_ += stride * given.value(*i);
      } else {
        free_.push_back({given.place(*i), levels, stride});
      }
      stride *= levels;
    }
    std::reverse(free_.begin(), free_.end());
  }

  std::vector<std::int32_t> scope() const {
    std::vector<std::int32_t> places;
    for (const Side& side : free_) places.push_back(side.place);
    return places;
  }

  std::vector<double> entries(std::span<const double> table) const {
    std::size_t count = 1;
    for (const Side& side : free_) count *= side.levels;
    std::vector<double> some(count);
    for (std::size_t k = 0; k < count; ++k) {
      std::size_t entry = first_, rest = k;
      for (auto side = free_.rbegin(); side != free_.rend(); ++side) {
        entry += rest % side->levels * side->stride;
        rest /= side->levels;
      }
      some[k] = table[entry];
    }
    return some;
  }

 private:
  struct Side {
    std::int32_t place;
    std::size_t levels, stride;
  };
  std::vector<Side> free_;  // the last one runs fastest
  std::size_t first_ = 0;
};

// Folds given values into models, a kind at a time.
class Conditioner {
 public:
  using Result = std::optional<AnyModel>;

  explicit Conditioner(const GivenValues& given) : given_(given) {}

  Result operator()(const BernoulliModel& m) const {
    BernoulliModel some{{}, m.constant};
    for (std::size_t i = 0; i < m.logits.size(); ++i) {
      fold_field(static_cast<int>(i), m.logits[i], some.logits, some.constant);
    }
    return some;
  }

  Result operator()(const IsingModel& m) const {
    IsingModel some;
    some.n = static_cast<int>(given_.free().size());
    some.constant = m.constant;
    fold_fields(m.fields, some.fields, some.constant);
    fold_couplings(m.couplings, some.couplings, some.fields, some.constant);
    return some;
  }

  Result operator()(const LatticeModel& m) const {
    const std::vector<double> fields(at(given_.domain().dim()), m.b);
    return (*this)(IsingModel{given_.domain().dim(), lattice_edges(m), fields, m.constant});
  }

  Result operator()(const QuadraticModel& m) const {
    QuadraticModel some{restricted(m.domain, given_.free()), {}, {}, m.constant};
    fold_fields(m.field, some.field, some.constant);
    fold_couplings(m.couplings, some.couplings, some.field, some.constant);
    return some;
  }

  Result operator()(const PottsModel& m) const {
    PottsModel some{
        restricted(m.domain, given_.free()), given_.levels_gathered(m.unary), {}, m.constant};
    for (const auto& [i, level] : given_.list()) {
      some.constant += m.unary[at(m.domain.score_begin(i) + level)];
    }
    for (const PottsEdge& e : m.edges) {
      const std::vector<std::int32_t> scope = {e.i, e.j};
      const Slice slice(scope, given_);
      const std::vector<std::int32_t> left = slice.scope();
      std::vector<double> entries = slice.entries(e.table);
      if (left.size() == 2) {
        some.edges.push_back({left[0], left[1], std::move(entries)});
      } else if (left.size() == 1) {
        double* unary = some.unary.data() + some.domain.score_begin(left[0]);
        for (std::size_t k = 0; k < entries.size(); ++k) unary[k] += entries[k];
      } else {
        some.constant += entries[0];
      }
    }
    return some;
  }

  Result operator()(const FactorsModel& m) const {
    FactorsModel some;
    for (const std::int32_t i : given_.free()) some.levels.push_back(m.levels[at(i)]);
    some.constant = m.constant;
    for (std::size_t t = 0; t < m.tables(); ++t) fold_table(m, t, some);
    for (std::size_t c = 0; c < m.clauses(); ++c) fold_clause(m, c, some);
    return some;
  }

  Result operator()(const RbmModel& m) const {
    RbmModel some{{}, {}, m.hidden_bias, m.constant};
    for (std::size_t i = 0; i < m.visible_bias.size(); ++i) {
      fold_field(static_cast<int>(i), m.visible_bias[i], some.visible_bias, some.constant);
    }
    some.weights.reserve(m.hidden_bias.size() * given_.free().size());
    for (std::size_t h = 0; h < m.hidden_bias.size(); ++h) {
      const double* row = m.weights.data() + h * m.visible_bias.size();
      for (const auto& [i, level] : given_.list()) some.hidden_bias[h] += level * row[i];
      for (const std::int32_t i : given_.free()) some.weights.push_back(row[i]);
    }
    return some;
  }

  template <class Other>
  Result operator()(const Other&) const {
    return std::nullopt;
  }

 private:
  double value(int i) const { return given_.domain().value(given_.value(i)); }

  void fold_field(int i, double weight, std::vector<double>& fields, double& constant) const {
    if (given_.is_given(i)) {
      constant += weight * value(i);
    } else {
      fields.push_back(weight);
    }
  }

  void fold_fields(const std::vector<double>& all, std::vector<double>& fields,
                   double& constant) const {
    for (std::size_t i = 0; i < all.size(); ++i) {
      fold_field(static_cast<int>(i), all[i], fields, constant);
    }
  }

  void fold_couplings(const std::vector<Coupling>& all, std::vector<Coupling>& couplings,
                      std::vector<double>& fields, double& constant) const {
    for (const Coupling& c : all) {
      const bool i = given_.is_given(c.i), j = given_.is_given(c.j);
      if (i && j) {
        constant += c.weight * value(c.i) * value(c.j);
      } else if (i) {
        fields[at(given_.place(c.j))] += c.weight * value(c.i);
      } else if (j) {
        fields[at(given_.place(c.i))] += c.weight * value(c.j);
      } else {
        couplings.push_back({given_.place(c.i), given_.place(c.j), c.weight});
      }
    }
  }

  void fold_table(const FactorsModel& m, std::size_t t, FactorsModel& some) const {
    const Slice slice(m.scope(t), given_);
    const std::vector<double> entries = slice.entries(m.table(t));
    if (std::ranges::all_of(entries, [](double e) { return e == -INFINITY; })) {
      throw DataError(fmt::format(
          "no state with the given values has a positive probability: table {}, over the "
          "coordinates {}, forbids them all",
          t, fmt::join(m.scope(t), ", ")));
    }
    const std::vector<std::int32_t> scope = slice.scope();
    if (scope.empty()) {
      some.constant += entries[0];
    } else {
      some.add_table(scope, entries);
    }
  }

  // Literals of given coordinates satisfy the clause, or leave it.
  void fold_clause(const FactorsModel& m, std::size_t c, FactorsModel& some) const {
    std::vector<FactorsModel::Literal> left;
    for (const FactorsModel::Literal& l : m.clause(c)) {
      if (!given_.is_given(l.coordinate)) {
        left.push_back({given_.place(l.coordinate), l.level});
      } else if (given_.value(l.coordinate) == l.level) {
        return;
      }
    }
    if (!left.empty()) return some.add_clause(left, m.weights[c]);
    if (std::isinf(m.weights[c])) {
      throw DataError(fmt::format(
          "no state with the given values has a positive probability: hard clause {} has no "
          "literal left that could hold",
          c));
    }
    some.constant -= m.weights[c];
  }

  const GivenValues& given_;
};

}  // namespace

std::optional<AnyModel> condition(const AnyModel& model, const GivenValues& given) {
  if (given.fixes_all()) {
    throw UsageError("all coordinates are given: there is nothing left to draw");
  }
  return std::visit(Conditioner(given), model);
}

}  // namespace saltus
