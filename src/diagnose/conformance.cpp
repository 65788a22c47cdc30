#include "saltus/diagnose/conformance.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "saltus/core/error.hpp"
#include "saltus/diagnose/distance.hpp"
#include "saltus/run/ensemble.hpp"

namespace saltus {
namespace {

int row(std::size_t s) {
  return static_cast<int>(s);
}

constexpr std::size_t kEliminated = 512;  // elimination takes n^3 operations

// The law that T leaves invariant, by applying T until nothing changes.
std::vector<double> iterated_law(Rows<const double> t, std::span<const double> start) {
  std::vector<double> law(start.begin(), start.end()), next(law.size());
  for (int k = 0; k < 10000; ++k) {
    std::fill(next.begin(), next.end(), 0.0);
    for (std::size_t x = 0; x < law.size(); ++x) {
      for (std::size_t y = 0; y < law.size(); ++y) next[y] += law[x] * t[row(x)][y];
    }
    law.swap(next);
    if (l1(law, next) < 1e-14) break;
  }
  return law;
}

// Adds one kernel's defects.
void check_kernel(Rows<const double> t, std::span<const double> pi, Conformance& result) {
  const std::size_t n = pi.size();
  std::vector<double> image(n);
  for (std::size_t x = 0; x < n; ++x) {
    double sum = 0;
    for (std::size_t y = 0; y < n; ++y) {
      const double p = t[row(x)][y];
      if (!(p >= 0)) result.rows = std::numeric_limits<double>::infinity();
      sum += p;
      image[y] += pi[x] * p;
      const double defect = std::abs(pi[x] * p - pi[y] * t[row(y)][x]);
      result.reversibility = std::max(result.reversibility, defect);
    }
    result.rows = std::max(result.rows, std::abs(sum - 1));
  }
  for (std::size_t y = 0; y < n; ++y) {
    result.invariance = std::max(result.invariance, std::abs(image[y] - pi[y]));
  }
}

// product = a b
void multiply(Rows<const double> a, Rows<const double> b, Rows<double> product) {
  for (int i = 0; i < a.rows; ++i) {
    std::fill_n(product[i], a.rows, 0.0);
    for (int k = 0; k < a.rows; ++k) {
      if (a[i][k] == 0) continue;
      for (int j = 0; j < a.rows; ++j) product[i][j] += a[i][k] * b[k][j];
    }
  }
}

// Divides by the root of the sum of squares, which is returned.
double normalise(Rows<double> a) {
  double squares = 0;
  for (int i = 0; i < a.rows; ++i) {
    for (int j = 0; j < a.cols; ++j) squares += a[i][j] * a[i][j];
  }
  const double norm = std::sqrt(squares);
  if (norm == 0) return 0;
  for (int i = 0; i < a.rows; ++i) {
    for (int j = 0; j < a.cols; ++j) a[i][j] /= norm;
  }
  return norm;
}

// The largest modulus of an eigenvalue: log |a^(2m)| - log |a^m| goes to m times its logarithm, and
// squaring doubles m.
double spectral_radius(RowBuffer<double> a) {
  double log_norm = std::log(normalise(a.view())), radius = 0;
  for (int doublings = 0; doublings < 40; ++doublings) {
    RowBuffer<double> square(a.view().rows, a.view().cols);
    multiply(a.view(), a.view(), square.view());
    a = std::move(square);
    const double log_ratio = std::log(normalise(a.view()));  // of a^(2m) to the square of |a^m|
    const double last = radius;
    radius = std::exp(std::ldexp(log_norm + log_ratio, -doublings));
    log_norm = 2 * log_norm + log_ratio;
    if (!(std::abs(radius - last) > 1e-15)) break;
  }
  return radius;
}

constexpr int kMostClasses = 32;  // that are counted

// The states that can be reached from a state (or, backwards, that lead to it).
std::vector<bool> reached(Rows<const double> t, std::size_t start, bool backwards) {
  const std::size_t n = static_cast<std::size_t>(t.rows);
  std::vector<bool> seen(n);
  std::vector<std::size_t> open{start};
  seen[start] = true;
  while (!open.empty()) {
    const std::size_t from = open.back();
    open.pop_back();
    for (std::size_t to = 0; to < n; ++to) {
      const double p = backwards ? t[row(to)][from] : t[row(from)][to];
      if (p > 0 && !seen[to]) seen[to] = true, open.push_back(to);
    }
  }
  return seen;
}

// Classes of states with weight that lead to one another; kMostClasses when there are more.
int count_classes(Rows<const double> t, std::span<const double> pi) {
  std::vector<bool> known(pi.size());
  int classes = 0;
  for (std::size_t s = 0; s < pi.size() && classes < kMostClasses; ++s) {
    if (!(pi[s] > 0) || known[s]) continue;
    ++classes;
    const std::vector<bool> after = reached(t, s, false), before = reached(t, s, true);
    for (std::size_t other = s; other < pi.size(); ++other) {
      if (after[other] && before[other]) known[other] = true;
    }
  }
  return classes;
}

std::vector<std::size_t> allowed_states(const StateTable& table) {
  std::vector<std::size_t> allowed;
  for (std::size_t s = 0; s < table.size(); ++s) {
    if (table.logp(s) != -std::numeric_limits<double>::infinity()) allowed.push_back(s);
  }
  return allowed;
}

// The rows and columns of some states.
RowBuffer<double> part_of(Rows<const double> t, const std::vector<std::size_t>& states) {
  RowBuffer<double> part(row(states.size()), row(states.size()));
  for (std::size_t i = 0; i < states.size(); ++i) {
    for (std::size_t j = 0; j < states.size(); ++j) {
      part.view()[row(i)][row(j)] = t[row(states[i])][row(states[j])];
    }
  }
  return part;
}

// The law that T leaves invariant among the states that are not forbidden.
std::vector<double> law_of_allowed(Rows<const double> t, const StateTable& table) {
  const std::vector<std::size_t> allowed = allowed_states(table);
  if (allowed.size() == table.size()) return stationary_law(t);
  std::vector<double> law = stationary_law(part_of(t, allowed).view());
  if (law.empty()) return law;
  std::vector<double> all(table.size());
  for (std::size_t i = 0; i < allowed.size(); ++i) all[allowed[i]] = law[i];
  return all;
}

const Enumerable& matrices_of(const Sampler& sampler) {
  if (const Enumerable* exact = sampler.enumerable()) return *exact;
  throw UsageError("sampler " + sampler.name() + " has no transition matrix to check");
}

// Counts where one step from state `from` leads, with many chains in the role of repetitions.
class CountSteps final : public StepObserver {
 public:
  CountSteps(const StateTable& table, std::vector<std::uint64_t>& counts)
      : table_(table), counts_(counts) {}
  bool wants_logp(std::uint64_t) const override { return true; }
  void after_step(const Tile& tile, std::span<const StepInfo>, std::uint64_t) override {
    for (int r = 0; r < tile.rows(); ++r) ++counts_[table_.index(tile.x[r])];
  }

 private:
  const StateTable& table_;
  std::vector<std::uint64_t>& counts_;
};

// Wilson & Hilferty (1931): (chi^2 / k)^(1/3) is close to normal.
double chi_square_tail(double chi_square, double degrees) {
  if (degrees <= 0) return 1;
  const double v = 2 / (9 * degrees);
  const double z = (std::cbrt(chi_square / degrees) - (1 - v)) / std::sqrt(v);
  return 0.5 * std::erfc(z / std::sqrt(2.0));
}

void add_row(StepCheck& result, const double* probability, const std::vector<std::uint64_t>& counts,
             double steps) {
  double pooled_expected = 0, pooled_seen = 0, cells = 0;
  const auto cell = [&](double expected, double seen) {
    result.chi_square += (seen - expected) * (seen - expected) / expected;
    ++cells;
  };
  for (std::size_t y = 0; y < counts.size(); ++y) {
    const double expected = probability[y] * steps;
    const auto seen = static_cast<double>(counts[y]);
    if (probability[y] == 0 && counts[y] > 0) result.impossible = true;
    if (expected >= 5) {
      cell(expected, seen);
    } else {
      pooled_expected += expected;
      pooled_seen += seen;
    }
  }
  if (pooled_expected >= 5) cell(pooled_expected, pooled_seen);
  result.degrees += std::max(0.0, cells - 1);
}

}  // namespace

// Grassmann, Taksar & Heyman (1985): eliminates states without a subtraction, so that even tiny
// probabilities keep their relative accuracy.
std::vector<double> stationary_law(Rows<const double> matrix) {
  const int n = matrix.rows;
  RowBuffer<double> copy(n, n);
  const Rows<double> a = copy.view();
  for (int i = 0; i < n; ++i) std::copy_n(matrix[i], n, a[i]);
  for (int k = n - 1; k > 0; --k) {
    double leaving = 0;
    for (int j = 0; j < k; ++j) leaving += a[k][j];
    if (!(leaving > 0)) return {};
    for (int i = 0; i < k; ++i) {
      a[i][k] /= leaving;
      for (int j = 0; j < k; ++j) a[i][j] += a[i][k] * a[k][j];
    }
  }
  std::vector<double> law(static_cast<std::size_t>(n));
  law[0] = 1;
  double sum = 1;
  for (int k = 1; k < n; ++k) {
    double& weight = law[static_cast<std::size_t>(k)];
    for (int i = 0; i < k; ++i) weight += law[static_cast<std::size_t>(i)] * a[i][k];
    sum += weight;
  }
  for (double& weight : law) weight /= sum;
  return law;
}

Conformance check_transitions(const Sampler& sampler, const StateTable& table) {
  const Enumerable& exact = matrices_of(sampler);
  const std::size_t n = table.size();
  const std::span<const double> pi = table.probability();
  const int phases = exact.phases(table.domain());
  const RowBuffer<double> one(row(n), row(n));
  RowBuffer<double> all(row(n), row(n));  // of the phases one after the other
  for (int i = 0; i < row(n); ++i) all.view()[i][i] = 1;
  std::vector<double> acceptance(n);
  Conformance result;
  for (int phase = 0; phase < phases; ++phase) {
    exact.transition_matrix(table, {1, static_cast<std::uint64_t>(phase)}, one.view(), acceptance);
    check_kernel(one.view(), pi, result);
    for (std::size_t x = 0; x < n; ++x) result.acceptance += pi[x] * acceptance[x] / phases;
    RowBuffer<double> product(row(n), row(n));
    multiply(all.view(), one.view(), product.view());
    all = std::move(product);
  }
  result.classes = count_classes(all.view(), pi);
  result.irreducible = result.classes == 1;
  result.l1 = std::numeric_limits<double>::quiet_NaN();
  if (!result.irreducible) return result;
  result.stationary =
      n <= kEliminated ? law_of_allowed(all.view(), table) : iterated_law(all.view(), pi);
  if (!result.stationary.empty()) result.l1 = l1(result.stationary, pi);
  return result;
}

double second_eigenvalue(const Sampler& sampler, const StateTable& table) {
  const Enumerable& exact = matrices_of(sampler);
  const int n = row(table.size()), phases = exact.phases(table.domain());
  const RowBuffer<double> one(n, n);
  RowBuffer<double> all(n, n);
  std::vector<double> acceptance(table.size());
  for (int i = 0; i < n; ++i) all.view()[i][i] = 1;
  for (int phase = 0; phase < phases; ++phase) {
    exact.transition_matrix(table, {1, static_cast<std::uint64_t>(phase)}, one.view(), acceptance);
    RowBuffer<double> product(n, n);
    multiply(all.view(), one.view(), product.view());
    all = std::move(product);
  }
  const std::vector<std::size_t> allowed = allowed_states(table);
  if (allowed.size() < table.size()) all = part_of(all.view(), allowed);
  // Without the eigenvalue 1 and its stationary law.
  const std::vector<double> law = stationary_law(all.view());
  if (law.empty()) return 1;
  for (int i = 0; i < all.view().rows; ++i) {
    for (int j = 0; j < all.view().rows; ++j) {
      all.view()[i][j] -= law[static_cast<std::size_t>(j)];
    }
  }
  return std::pow(spectral_radius(std::move(all)), 1.0 / phases);
}

StepCheck check_steps(const Sampler& sampler, const Target& target, const StateTable& table,
                      std::uint64_t steps, std::uint64_t seed) {
  const Enumerable& exact = matrices_of(sampler);
  const std::size_t n = table.size();
  const auto phases = static_cast<std::uint64_t>(exact.phases(table.domain()));
  // Every step is the first one of a chain of its own: all of them take it at the same place of the
  // sampler's order.
  const int chains = static_cast<int>(std::max<std::uint64_t>(64, steps / phases));
  const RowBuffer<double> buffer(row(n), row(n));
  std::vector<double> acceptance(n);
  StepCheck result;
  const RowBuffer<Symbol> start(chains, table.domain().dim());
  for (std::uint64_t phase = 0; phase < phases; ++phase) {
    exact.transition_matrix(table, {seed, phase}, buffer.view(), acceptance);
    // Numbers of chains, so that states differ in their random numbers under one seed.
    Ensemble ensemble(target, chains, 0, 1, seed);
    for (std::size_t from = 0; from < n; ++from) {
      if (table.probability()[from] == 0) continue;
      std::vector<std::uint64_t> counts(n + 1);  // the last: outside a table that was cut off
      CountSteps observer(table, counts);
      for (int r = 0; r < chains; ++r) {
        std::copy_n(table.state(from), table.domain().dim(), start.view()[r]);
      }
      ensemble.start_from(start.view(), phase);
      ensemble.count_chains_from(static_cast<std::uint32_t>(from) *
                                 static_cast<std::uint32_t>(chains));
      ensemble.evaluate();
      ensemble.advance(sampler, 1, observer);
      if (counts[n] > 0) {  // outside a table that was cut off, or where a constraint is broken
        result.impossible = result.impossible || target.constraint() != nullptr;
        continue;
      }
      counts.pop_back();
      result.steps += static_cast<std::uint64_t>(chains);
      add_row(result, buffer.view()[row(from)], counts, chains);
    }
  }
  result.p_value = chi_square_tail(result.chi_square, result.degrees);
  return result;
}

}  // namespace saltus
