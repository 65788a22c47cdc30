#include "saltus/target/potts.hpp"

#include <algorithm>

#include "saltus/core/error.hpp"

namespace saltus {
namespace {

std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}

}  // namespace

Potts::Potts(PottsModel model) : model_(std::move(model)) {
  if (model_.domain.kind() != Domain::Kind::categorical)
    throw UsageError("a Potts model needs categorical levels");
  if (model_.unary.size() != at(model_.domain.score_size())) {
    throw DataError("unary has " + std::to_string(model_.unary.size()) + " entries for " +
                    std::to_string(model_.domain.score_size()) + " levels");
  }
  for (const PottsEdge& e : model_.edges) {
    const int n = model_.domain.dim();
    if (e.i < 0 || e.j < 0 || e.i >= n || e.j >= n || e.i == e.j) {
      throw DataError("an edge joins coordinates " + std::to_string(e.i) + " and " +
                      std::to_string(e.j) + " of " + std::to_string(n));
    }
    const std::size_t rows = at(model_.domain.levels(e.i)), cols = at(model_.domain.levels(e.j));
    if (e.table.size() != rows * cols) {
      throw DataError("the table between " + std::to_string(e.i) + " and " + std::to_string(e.j) +
                      " has " + std::to_string(e.table.size()) + " entries, not " +
                      std::to_string(rows * cols));
    }
    std::vector<double>& t = transposed_.emplace_back(e.table.size());
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t c = 0; c < cols; ++c) t[c * rows + r] = e.table[r * cols + c];
    }
  }
  ends_begin_.resize(at(model_.domain.dim()) + 1);
  for (const PottsEdge& e : model_.edges) ++ends_begin_[at(e.i) + 1], ++ends_begin_[at(e.j) + 1];
  for (std::size_t i = 1; i < ends_begin_.size(); ++i) {
    max_degree_ = std::max(max_degree_, static_cast<int>(ends_begin_[i]));
    ends_begin_[i] += ends_begin_[i - 1];
  }
  ends_.resize(ends_begin_.back());
  std::vector<std::size_t> next(ends_begin_.begin(), ends_begin_.end() - 1);
  for (std::size_t e = 0; e < model_.edges.size(); ++e) {
    const double *table = model_.edges[e].table.data(), *turned = transposed_[e].data();
    ends_[next[at(model_.edges[e].i)]++] = {model_.edges[e].j, table, turned};
    ends_[next[at(model_.edges[e].j)]++] = {model_.edges[e].i, turned, table};
  }
}

std::span<const Potts::End> Potts::ends(int i) const {
  return std::span(ends_).subspan(ends_begin_[at(i)], ends_begin_[at(i) + 1] - ends_begin_[at(i)]);
}

void Potts::differences(const LocalRow& row, int i, int first, int count, double* out) const {
  const double* unary = model_.unary.data() + model_.domain.score_begin(i);
  const int now = row.x[i], levels = model_.domain.levels(i);
  for (int m = 0; m < count; ++m) out[m] = unary[first + m] - unary[now];
  for (const End& end : ends(i)) {
    const double* given = end.by_other + at(row.x[end.other] * levels);
    for (int m = 0; m < count; ++m) out[m] += given[first + m] - given[now];
  }
}

void Potts::move(const LocalRow& row, int i, Symbol to) const {
  const Symbol from = row.x[i];
  row.x[i] = to;
  if (!row.score) return;
  for (const End& end : ends(i)) {
    const int levels = model_.domain.levels(end.other);
    const double *before = end.by_own + at(from * levels), *after = end.by_own + at(to * levels);
    float* score = row.score + model_.domain.score_begin(end.other);
    for (int k = 0; k < levels; ++k) score[k] += static_cast<float>(after[k] - before[k]);
  }
}

std::span<const std::int32_t> Potts::neighbours(int i, std::int32_t* room) const {
  std::int32_t* to = room;
  for (const End& end : ends(i)) *to++ = end.other;
  return {room, to};
}

template <class T>
void Potts::evaluate_rows(Rows<const Symbol> x, double* logp, Rows<T> score) const {
  for (int r = 0; r < x.rows; ++r) {
    const Symbol* c = x[r];
    double sum = model_.constant;
    for (int i = 0; i < model_.domain.dim(); ++i)
      sum += model_.unary[at(model_.domain.score_begin(i) + c[i])];
    if (score) {
      for (std::size_t k = 0; k < model_.unary.size(); ++k)
        score[r][k] = static_cast<T>(model_.unary[k]);
    }
    for (std::size_t e = 0; e < model_.edges.size(); ++e) {
      const auto& [i, j, table] = model_.edges[e];
      const int rows = model_.domain.levels(i), cols = model_.domain.levels(j);
      sum += table[at(c[i] * cols + c[j])];
      if (!score) continue;
      T* to_i = score[r] + model_.domain.score_begin(i);
      T* to_j = score[r] + model_.domain.score_begin(j);
      const double* given_j = transposed_[e].data() + at(c[j] * rows);
      const double* given_i = table.data() + at(c[i] * cols);
      for (int k = 0; k < rows; ++k) to_i[k] += static_cast<T>(given_j[k]);
      for (int k = 0; k < cols; ++k) to_j[k] += static_cast<T>(given_i[k]);
    }
    if (logp) logp[r] = sum;
  }
}

void Potts::evaluate(const At&, Rows<const Symbol> x, double* logp, Rows<float> score) const {
  evaluate_rows(x, logp, score);
}

void Potts::evaluate_exact(const At&, Rows<const Symbol> x, double* logp,
                           Rows<double> score) const {
  evaluate_rows(x, logp, score);
}

}  // namespace saltus
