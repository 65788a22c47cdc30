#include "io/problems/pair_problem.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "io/factors/factor_forms.hpp"
#include "saltus/core/error.hpp"
#include "saltus/target/ising_lattice.hpp"

namespace saltus {
namespace {

std::uint64_t key_of(const Coupling& c) {
  const auto [low, high] = std::minmax(c.i, c.j);
  return std::uint64_t(low) << 32 | std::uint64_t(high);
}

bool is_whole_number(double v) {
  return v == std::trunc(v);
}

bool all_whole(const PairProblem& p) {
  return is_whole_number(p.offset) && std::ranges::all_of(p.linear, is_whole_number) &&
         std::ranges::all_of(p.pairs, is_whole_number, &Coupling::weight);
}

double& at(std::vector<double>& v, int i) {
  return v[static_cast<std::size_t>(i)];
}

// Throws DataError where sums of the file's numbers have left the range of a double.
void check_finite(const PairProblem& p) {
  const bool finite = std::isfinite(p.offset) &&
                      std::ranges::all_of(p.linear, [](double v) { return std::isfinite(v); }) &&
                      std::ranges::all_of(
                          p.pairs, [](double v) { return std::isfinite(v); }, &Coupling::weight);
  if (!finite) throw DataError("a number of the energy is too large");
}

// Nothing where a level, a factor or a forbidden state does not fit.
std::optional<PairProblem> pairs_of_graph(const FactorsModel& model) {
  constexpr std::size_t kMostOfPair = 4;
  const auto two = [](int levels) { return levels == 2; };
  if (!std::ranges::all_of(model.levels, two)) return std::nullopt;
  for (std::size_t c = 0; c < model.clauses(); ++c) {
    if (model.clause(c).size() > 2 || std::isinf(model.weights[c])) return std::nullopt;
  }
  const FactorsModel graph = with_tables_alone(model);
  PairProblem p{
      false, std::vector<double>(model.levels.size()), {}, 0 - graph.constant, model.labels};
  for (std::size_t t = 0; t < graph.tables(); ++t) {
    const auto table = graph.table(t);
    const auto finite = [](double v) { return std::isfinite(v); };
    if (table.size() > kMostOfPair || !std::ranges::all_of(table, finite)) return std::nullopt;
    const auto scope = graph.scope(t);
    p.offset -= table[0];
    if (scope.size() == 1) at(p.linear, scope[0]) -= table[1] - table[0];
    if (scope.size() < 2) continue;
    at(p.linear, scope[0]) -= table[2] - table[0];
    at(p.linear, scope[1]) -= table[1] - table[0];
    const double together = table[3] - table[2] - table[1] + table[0];
    if (together != 0) p.pairs.push_back({scope[0], scope[1], 0 - together});
  }
  if (first_repeated(p.pairs)) add_up(p.pairs);
  return p;
}

struct ToPairs {
  using Found = std::optional<PairProblem>;

  static Found negative(bool spins, std::vector<double> linear, std::vector<Coupling> pairs,
                        double constant, const Labels& labels) {
    PairProblem p{spins, std::move(linear), std::move(pairs), 0 - constant, labels};
    for (double& v : p.linear) v = 0 - v;
    for (Coupling& c : p.pairs) c.weight = 0 - c.weight;
    return p;
  }
  Found operator()(const BernoulliModel& m) const {
    return negative(false, m.logits, {}, 0, m.labels);
  }
  Found operator()(const IsingModel& m) const {
    return negative(true, m.fields, m.couplings, m.constant, m.labels);
  }
  Found operator()(const LatticeModel& m) const {
    std::size_t sites = 1;
    for (const int side : m.shape) sites *= static_cast<std::size_t>(side);
    return negative(true, std::vector<double>(sites, m.b), lattice_edges(m), m.constant, {});
  }
  Found operator()(const QuadraticModel& m) const {
    if (!m.domain.two_level()) return std::nullopt;
    const bool spins = m.domain.first_value() < 0;
    Found p = negative(spins, m.field, m.couplings, m.constant, m.labels);
    std::erase_if(p->pairs, [&](const Coupling& c) {  // v^2 is 1 for spins, v for bits
      if (c.i == c.j) (spins ? p->offset : at(p->linear, c.i)) += c.weight;
      return c.i == c.j;
    });
    if (first_repeated(p->pairs)) add_up(p->pairs);
    return p;
  }
  Found operator()(const FactorsModel& m) const { return pairs_of_graph(m); }
  template <class Other>
  Found operator()(const Other&) const {
    return std::nullopt;
  }
};

}  // namespace

AnyModel model_of(PairProblem p, double beta, bool maximise) {
  const double factor = maximise ? beta : -beta;
  p.offset = p.offset * factor + 0.0;  // -0 becomes 0
  for (double& v : p.linear) v = v * factor + 0.0;
  for (Coupling& c : p.pairs) c.weight = c.weight * factor + 0.0;
  check_finite(p);
  const int n = p.size();
  if (p.spins) {
    return IsingModel{n, std::move(p.pairs), std::move(p.linear), p.offset, std::move(p.labels)};
  }
  return QuadraticModel{Domain::binary(n), std::move(p.pairs), std::move(p.linear), p.offset,
                        std::move(p.labels)};
}

Model energy_model(PairProblem problem, const ProblemOptions& options) {
  Model model;
  model.objective = Objective{"energy", options.maximise, options.beta, all_whole(problem)};
  model.value = model_of(std::move(problem), options.beta, options.maximise);
  return model;
}

std::optional<PairProblem> pair_problem_of(const AnyModel& model) {
  return std::visit(ToPairs{}, model);
}

// x = (1 + s) / 2.
PairProblem as_spins(PairProblem p) {
  if (p.spins) return p;
  p.spins = true;
  for (double& v : p.linear) {
    v /= 2;
    p.offset += v;
  }
  for (Coupling& c : p.pairs) {
    c.weight /= 4;
    at(p.linear, c.i) += c.weight;
    at(p.linear, c.j) += c.weight;
    p.offset += c.weight;
  }
  return p;
}

// s = 2 x - 1.
PairProblem as_bits(PairProblem p) {
  if (!p.spins) return p;
  p.spins = false;
  for (double& v : p.linear) {
    p.offset -= v;
    v *= 2;
  }
  for (Coupling& c : p.pairs) {
    p.offset += c.weight;
    at(p.linear, c.i) -= 2 * c.weight;
    at(p.linear, c.j) -= 2 * c.weight;
    c.weight *= 4;
  }
  return p;
}

std::optional<std::size_t> first_repeated(std::span<const Coupling> pairs) {
  const auto after = [](const Coupling& a, const Coupling& b) { return key_of(a) >= key_of(b); };
  if (std::ranges::adjacent_find(pairs, after) == pairs.end()) return std::nullopt;
  std::vector<std::uint64_t> keys(pairs.size());
  std::ranges::transform(pairs, keys.begin(), key_of);
  std::ranges::sort(keys);
  if (std::ranges::adjacent_find(keys) == keys.end()) return std::nullopt;
  std::set<std::uint64_t> seen;
  std::size_t k = 0;
  while (seen.insert(key_of(pairs[k])).second) ++k;
  return k;
}

void add_up(std::vector<Coupling>& pairs) {
  for (Coupling& c : pairs) {
    if (c.i > c.j) std::swap(c.i, c.j);
  }
  const auto before = [](const Coupling& a, const Coupling& b) { return key_of(a) < key_of(b); };
  if (!std::ranges::is_sorted(pairs, before)) {
    // In the order of the file where pairs are the same: sums have one value.
    std::ranges::stable_sort(pairs, before);
  }
  std::size_t last = 0;
  for (std::size_t k = 1; k < pairs.size(); ++k) {
    if (key_of(pairs[k]) == key_of(pairs[last])) {
      pairs[last].weight += pairs[k].weight;
    } else {
      pairs[++last] = pairs[k];
    }
  }
  if (!pairs.empty()) pairs.resize(last + 1);
}

Labels number_labels(std::span<const std::int64_t> labels) {
  std::vector<std::string> texts;
  bool counted = true;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    counted = counted && labels[i] == static_cast<std::int64_t>(i);
  }
  if (counted) return {};
  texts.reserve(labels.size());
  for (const std::int64_t label : labels) texts.push_back(std::to_string(label));
  return {std::move(texts), {}};
}

}  // namespace saltus
