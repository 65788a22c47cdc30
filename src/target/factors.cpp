#include "saltus/target/factors.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "saltus/core/error.hpp"

namespace saltus {
namespace {

constexpr std::ptrdiff_t kTogether = 64;  // levels whose scores are written together

std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}

}  // namespace

std::size_t Factors::levels_begin(int i) const {
  return two_level() ? 2 * at(i) : at(domain_.score_begin(i));
}

std::size_t Factors::entry_of(std::size_t table, const Symbol* x) const {
  std::size_t entry = model_.entry_begin[table];
  for (std::size_t s = model_.scope_begin[table]; s < model_.scope_begin[table + 1]; ++s) {
    entry += at(strides_[s]) * x[model_.scopes[s]];
  }
  return entry;
}

int Factors::holding(std::size_t clause, const Symbol* x, int without,
                     const Literal** holder) const {
  int count = 0;
  for (const Literal& l : model_.clause(clause)) {
    if (x[l.coordinate] != l.level || l.coordinate == without) continue;
    *holder = &l;
    if (++count == 2) break;
  }
  return count;
}

double Factors::add_table(std::size_t table, const Symbol* x, double* sums) const {
  const std::size_t entry = entry_of(table, x);
  if (sums) {
    for (std::size_t s = model_.scope_begin[table]; s < model_.scope_begin[table + 1]; ++s) {
      const int i = model_.scopes[s], levels = domain_.levels(i);
      const std::size_t stride = at(strides_[s]);
      const double* column = model_.entries.data() + (entry - stride * x[i]);
      double* of = sums + levels_begin(i);
      for (int k = 0; k < levels; ++k) of[k] += column[stride * at(k)];
    }
  }
  return model_.entries[entry];
}

// A clause without a literal that holds is satisfied by any of them; where one holds, it matters
// that its coordinate does not leave it; two or more can spare any.
double Factors::add_clause(std::size_t clause, const Symbol* x, double* sums) const {
  const double weight = model_.weights[clause];
  const Literal* holder = nullptr;
  const int count = holding(clause, x, -1, &holder);
  if (sums && count == 0) {
    for (const Literal& l : model_.clause(clause)) {
      sums[levels_begin(l.coordinate) + l.level] += weight;
    }
  }
  if (sums && count == 1) {
    const int i = holder->coordinate, levels = domain_.levels(i);
    double* of = sums + levels_begin(i);
    for (int k = 0; k < levels; ++k) of[k] -= weight;
    for (const Literal& l : model_.clause(clause)) {
      if (l.coordinate == i) of[l.level] += weight;
    }
  }
  return count == 0 ? -weight : 0;
}

// What a score says of a change: at an allowed state the change itself, down to the floor.
// Forbidden states are left by all that allow more.
double Factors::bounded(double difference) const {
  if (!forbids_) return difference;
  return difference > penalty_ / 2 ? floor_ : std::max(difference, -floor_);
}

template <class T>
void Factors::write_scores(const Symbol* x, const double* sums, T* score) const {
  for (int i = 0; i < domain_.dim(); ++i) {
    const double* of = sums + levels_begin(i);
    if (two_level()) {
      const double change = bounded(of[1 - x[i]] - of[x[i]]);
      score[i] = static_cast<T>(x[i] ? -change : change);
      continue;
    }
    T* out = score + domain_.score_begin(i);
    for (int k = 0; k < domain_.levels(i); ++k) {
      out[k] = k == x[i] ? T{0} : static_cast<T>(bounded(of[k] - of[x[i]]));
    }
  }
}

template <class T>
void Factors::evaluate_rows(const At& at_step, Rows<const Symbol> x, double* logp,
                            Rows<T> score) const {
  double* sums = score ? at_step.scratch.get<double>(0, unary_.size()) : nullptr;
  const double forbidden = forbids_ ? -penalty_ / 2 : -std::numeric_limits<double>::infinity();
  for (int r = 0; r < x.rows; ++r) {
    if (sums) std::copy(unary_.begin(), unary_.end(), sums);
    double sum = model_.constant;
    bool allowed = true;
    const auto add = [&](double value) {
      sum += value;
      allowed = allowed && !(value < forbidden);
    };
    for (int i = 0; i < domain_.dim(); ++i) add(unary_[levels_begin(i) + x[r][i]]);
    for (std::size_t t = 0; t < model_.tables(); ++t) add(add_table(t, x[r], sums));
    for (std::size_t c = 0; c < model_.clauses(); ++c) add(add_clause(c, x[r], sums));
    if (logp) logp[r] = allowed ? sum : -std::numeric_limits<double>::infinity();
    if (score) write_scores(x[r], sums, score[r]);
  }
}

void Factors::evaluate(const At& at_step, Rows<const Symbol> x, double* logp,
                       Rows<float> score) const {
  evaluate_rows(at_step, x, logp, score);
}

void Factors::evaluate_exact(const At& at_step, Rows<const Symbol> x, double* logp,
                             Rows<double> score) const {
  evaluate_rows(at_step, x, logp, score);
}

void Factors::differences(const LocalRow& row, int i, int first, int count, double* out) const {
  const Symbol* x = row.x;
  const int now = x[i];
  const double* unary = unary_.data() + levels_begin(i);
  for (int m = 0; m < count; ++m) out[m] = unary[first + m] - unary[now];
  for (std::size_t e = ends_begin_[at(i)]; e < ends_begin_[at(i) + 1]; ++e) {
    const std::size_t stride = at(ends_[e].stride);
    const double* present = model_.entries.data() + entry_of(at(ends_[e].table), x);
    const double* column = present - stride * at(now);
    for (int m = 0; m < count; ++m) out[m] += column[stride * at(first + m)] - *present;
  }
  for (std::size_t e = clauses_begin_[at(i)]; e < clauses_begin_[at(i) + 1]; ++e) {
    const std::size_t clause = at(clauses_of_[e]);
    const Literal* other = nullptr;
    if (holding(clause, x, i, &other) > 0) continue;
    const double weight = model_.weights[clause];
    double present = 0;
    for (const Literal& l : model_.clause(clause)) {
      if (l.coordinate != i) continue;
      if (l.level == now) present = weight;
      if (l.level >= first && l.level < first + count) out[l.level - first] += weight;
    }
    if (present != 0) {
      for (int m = 0; m < count; ++m) out[m] -= present;
    }
  }
}

void Factors::write_score(const Symbol* x, int i, float* score) const {
  const LocalRow row{const_cast<Symbol*>(x), nullptr, nullptr};  // differences only read it
  if (two_level()) {
    double change = 0;
    differences(row, i, 1 - x[i], 1, &change);
    score[i] = static_cast<float>(x[i] ? -bounded(change) : bounded(change));
    return;
  }
  double change[kTogether];
  float* out = score + domain_.score_begin(i);
  for (int first = 0; first < domain_.levels(i); first += static_cast<int>(kTogether)) {
    const int count = std::min(static_cast<int>(kTogether), domain_.levels(i) - first);
    differences(row, i, first, count, change);
    for (int m = 0; m < count; ++m) {
      out[first + m] = first + m == x[i] ? 0.0f : static_cast<float>(bounded(change[m]));
    }
  }
}

// Scores of the coordinates beside i in every factor of i, computed afresh, so that none
// accumulates rounding. Clauses concern only those that the number of literals that hold concerns.
void Factors::move(const LocalRow& row, int i, Symbol to) const {
  const Symbol from = row.x[i];
  row.x[i] = to;
  if (!row.score || from == to) return;
  write_score(row.x, i, row.score);
  for (std::size_t e = ends_begin_[at(i)]; e < ends_begin_[at(i) + 1]; ++e) {
    for (const std::int32_t j : model_.scope(at(ends_[e].table))) {
      if (j != i) write_score(row.x, j, row.score);
    }
  }
  for (std::size_t e = clauses_begin_[at(i)]; e < clauses_begin_[at(i) + 1]; ++e) {
    const std::size_t clause = at(clauses_of_[e]);
    bool before = false, after = false;
    for (const Literal& l : model_.clause(clause)) {
      before = before || (l.coordinate == i && l.level == from);
      after = after || (l.coordinate == i && l.level == to);
    }
    const Literal* other = nullptr;
    const int others = before == after ? 2 : holding(clause, row.x, i, &other);
    if (others == 2) continue;
    if (others == 1) {
      write_score(row.x, other->coordinate, row.score);
      continue;
    }
    for (const Literal& l : model_.clause(clause)) {
      if (l.coordinate != i) write_score(row.x, l.coordinate, row.score);
    }
  }
}

std::span<const std::int32_t> Factors::neighbours(int i, std::int32_t* room) const {
  std::int32_t* end = room;
  for (std::size_t e = ends_begin_[at(i)]; e < ends_begin_[at(i) + 1]; ++e) {
    for (const std::int32_t j : model_.scope(at(ends_[e].table))) {
      if (j != i) *end++ = j;
    }
  }
  for (std::size_t e = clauses_begin_[at(i)]; e < clauses_begin_[at(i) + 1]; ++e) {
    for (const Literal& l : model_.clause(at(clauses_of_[e]))) {
      if (l.coordinate != i) *end++ = l.coordinate;
    }
  }
  std::sort(room, end);
  return {room, std::unique(room, end)};
}

}  // namespace saltus
