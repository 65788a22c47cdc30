#include "saltus/target/graph.hpp"

#include <algorithm>
#include <numeric>

#include "core/draw_place.hpp"
#include "saltus/core/error.hpp"
#include "saltus/core/philox.hpp"

namespace saltus {
namespace {

constexpr int kMostVertices = 1 << 24;  // counts of them are exact in single precision
constexpr int kCounted = 4;             // levels whose counts fit into a word, 16 bits for each

std::size_t at(std::int64_t i) {
  return static_cast<std::size_t>(i);
}

void check(const GraphModel& m) {
  if (m.n < 1 || m.n > kMostVertices) {
    throw DataError("a graph has " + std::to_string(m.n) + " vertices, expected 1 to " +
                    std::to_string(kMostVertices));
  }
  const std::size_t k = at(m.levels);
  if (m.levels < 2 || m.pair.size() != k * k || m.square.size() != k || m.linear.size() != k) {
    throw DataError("a graph model with " + std::to_string(m.levels) +
                    " levels needs as many rows of pair, and as many entries of linear and square");
  }
  for (std::size_t a = 0; a < k; ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      if (m.pair[a * k + b] != m.pair[b * k + a]) throw DataError("pair is not symmetric");
    }
  }
  for (const Coupling& e : m.edges) {
    if (e.i < 0 || e.j < 0 || e.i >= m.n || e.j >= m.n || e.i == e.j) {
      throw DataError("an edge joins vertices " + std::to_string(e.i) + " and " +
                      std::to_string(e.j) + " of " + std::to_string(m.n));
    }
  }
}

const GraphModel& checked(const GraphModel& model) {
  check(model);
  return model;
}

}  // namespace

GraphTarget::GraphTarget(GraphModel model)
    : model_(std::move(model)),
      domain_(checked(model_).levels == 2 ? Domain::binary(model_.n)
                                          : Domain::categorical(model_.n, model_.levels)),
      ends_begin_(at(model_.n) + 1) {
  for (const Coupling& e : model_.edges) ++ends_begin_[at(e.i) + 1], ++ends_begin_[at(e.j) + 1];
  for (std::size_t i = 1; i < ends_begin_.size(); ++i) {
    max_degree_ = std::max(max_degree_, static_cast<int>(ends_begin_[i]));
    ends_begin_[i] += ends_begin_[i - 1];
  }
  ends_.resize(ends_begin_.back());
  std::vector<std::size_t> next(ends_begin_.begin(), ends_begin_.end() - 1);
  for (const Coupling& e : model_.edges) {
    ends_[next[at(e.i)]++] = {e.j, e.weight};
    ends_[next[at(e.j)]++] = {e.i, e.weight};
  }
  if (!countable()) return;
  for (const End& end : ends_) others_.push_back(end.other);
}

bool GraphTarget::countable() const {
  return model_.levels <= kCounted && max_degree_ < 0x10000 && !ends_.empty() &&
         std::ranges::all_of(ends_, [&](const End& e) { return e.weight == ends_[0].weight; });
}

std::span<const GraphTarget::End> GraphTarget::ends(int i) const {
  return std::span(ends_).subspan(ends_begin_[at(i)], ends_begin_[at(i) + 1] - ends_begin_[at(i)]);
}

// What a level adds to log p with so many vertices.
double GraphTarget::count_term(int level, double count) const {
  const double off = count - model_.centre;
  return model_.linear[at(level)] * count + model_.square[at(level)] * off * off;
}

// A level's term grows by linear + square (2 (m - centre) + 1) when vertex m + 1 joins it.
double GraphTarget::joining(int level, double others) const {
  return model_.linear[at(level)] + model_.square[at(level)] * (2 * (others - model_.centre) + 1);
}

void GraphTarget::differences(const LocalRow& row, int i, int first, int count, double* out) const {
  const int now = row.x[i];
  const double leaving = joining(now, double{row.target_cache[now]} - 1);
  for (int m = 0; m < count; ++m) {
    const int to = first + m;
    out[m] = to == now ? 0 : joining(to, double{row.target_cache[to]}) - leaving;
  }
  if (!others_.empty()) {
    double sums[kCounted];
    add_up_edges(row.x, i, sums);
    for (int m = 0; m < count; ++m) out[m] += sums[first + m] - sums[now];
    return;
  }
  for (const End& end : ends(i)) {
    const double* given = model_.pair.data() + at(std::int64_t{row.x[end.other]} * model_.levels);
    for (int m = 0; m < count; ++m) out[m] += end.weight * (given[first + m] - given[now]);
  }
}

void GraphTarget::move(const LocalRow& row, int i, Symbol to) const {
  if (row.target_cache) {
    row.target_cache[row.x[i]] -= 1;
    row.target_cache[to] += 1;
  }
  row.x[i] = to;
}

std::span<const std::int32_t> GraphTarget::neighbours(int, std::int32_t* room) const {
  std::iota(room, room + model_.n, 0);
  return {room, at(model_.n)};
}

void GraphTarget::add_up_edges(const Symbol* x, int i, double* sums) const {
  const int levels = model_.levels;
  std::fill_n(sums, levels, 0.0);
  if (!others_.empty()) {
    std::uint64_t counts = 0;
    for (std::size_t e = ends_begin_[at(i)]; e < ends_begin_[at(i) + 1]; ++e) {
      counts += std::uint64_t{1} << (16 * x[others_[e]]);
    }
    for (int l = 0; l < levels; ++l, counts >>= 16) {
      const double weight = ends_[0].weight * static_cast<double>(counts & 0xFFFF);
      for (int k = 0; k < levels; ++k) sums[k] += weight * model_.pair[at(l * levels + k)];
    }
    return;
  }
  for (const End& end : ends(i)) {
    const double* given = model_.pair.data() + at(std::int64_t{x[end.other]} * levels);
    for (int k = 0; k < levels; ++k) sums[k] += end.weight * given[k];
  }
}

void GraphTarget::update(const At& where, Rows<Symbol> x, std::span<const std::int32_t> order,
                         const Draws& draws, std::uint32_t* changed) const {
  const std::size_t levels = at(model_.levels);
  double* counts = where.scratch.get<double>(0, 2 * levels);
  const std::span sums(counts + levels, levels);
  for (int r = 0; r < x.rows; ++r) {
    const Stream stream(draws.seed, draws.first_chain + static_cast<std::uint32_t>(r), draws.step,
                        Purpose::level);
    Symbol* row = x[r];
    std::fill_n(counts, levels, 0.0);
    for (int i = 0; i < model_.n; ++i) ++counts[row[i]];
    PhiloxBlock words{};
    for (std::size_t t = 0; t < order.size(); ++t) {
      const std::uint32_t word = draws.first_word + static_cast<std::uint32_t>(t);
      if (t == 0 || word % 4 == 0) words = stream.block(word / 4);
      Symbol& level = row[order[t]];
      counts[level] -= 1;
      add_up_edges(row, order[t], sums.data());
      for (std::size_t k = 0; k < levels; ++k) {
        sums[k] += joining(static_cast<int>(k), counts[k]);
      }
      const auto drawn = static_cast<Symbol>(draw_by_logs(sums, uniform_of_word(words[word % 4])));
      counts[drawn] += 1;
      changed[r] += drawn != level;
      level = drawn;
    }
  }
}

// Returns what edges add to log p; `sums` has room for each level.
template <class T>
double GraphTarget::write_scores(const Symbol* x, const double* counts, double* sums,
                                 T* score) const {
  const int levels = model_.levels;
  double pairs = 0;
  for (int i = 0; i < model_.n; ++i) {
    if (!score && others_.empty()) {
      const double* own = model_.pair.data() + at(std::int64_t{x[i]} * levels);
      for (const End& end : ends(i)) pairs += end.weight * own[x[end.other]] / 2;
      continue;
    }
    add_up_edges(x, i, sums);
    pairs += sums[x[i]] / 2;
    if (!score) continue;
    for (int k = 0; k < levels; ++k) sums[k] += joining(k, counts[k] - (k == x[i]));
    if (levels == 2) {
      score[i] = static_cast<T>(sums[1] - sums[0]);
    } else {
      std::copy_n(sums, levels, score + at(std::int64_t{i} * levels));
    }
  }
  return pairs;
}

template <class T>
void GraphTarget::evaluate_rows(const At& where, Rows<const Symbol> x, double* logp,
                                Rows<T> score) const {
  const std::size_t levels = at(model_.levels);
  double* counts = where.scratch.get<double>(0, 2 * levels);
  for (int r = 0; r < x.rows; ++r) {
    std::fill_n(counts, levels, 0.0);
    for (int i = 0; i < model_.n; ++i) ++counts[x[r][i]];
    double sum = write_scores<T>(x[r], counts, counts + levels, score ? score[r] : nullptr);
    for (int k = 0; k < model_.levels; ++k) sum += count_term(k, counts[k]);
    if (logp) logp[r] = sum + model_.constant;
  }
}

void GraphTarget::evaluate(const At& where, Rows<const Symbol> x, double* logp,
                           Rows<float> score) const {
  evaluate_rows(where, x, logp, score);
}

void GraphTarget::evaluate_exact(const At& where, Rows<const Symbol> x, double* logp,
                                 Rows<double> score) const {
  evaluate_rows(where, x, logp, score);
}

// Between the levels n_1 is the sum of v and n_0 that of 1 - v. A square of such a sum m, with
// w = v or 1 - v, becomes m^2 + sum w (1 - w), of which the slope by w_i is 2 (m - w_i) + 1.
void GraphTarget::evaluate_relaxed(const At&, Rows<const float> v, double* logp,
                                   Rows<float> gradient) const {
  const std::vector<double>& pair = model_.pair;
  for (int r = 0; r < v.rows; ++r) {
    double ones = 0, spread = 0, sum = model_.constant;
    for (int i = 0; i < model_.n; ++i) {
      const double one = double{v[r][i]};
      ones += one, spread += one * (1 - one);
    }
    const double zeros = model_.n - ones;
    for (int i = 0; i < model_.n; ++i) {
      const double one = double{v[r][i]};
      double at_zero = 0, at_one = 0;
      for (const End& end : ends(i)) {
        const double other = double{v[r][end.other]};
        at_zero += end.weight * (pair[0] * (1 - other) + pair[1] * other);
        at_one += end.weight * (pair[2] * (1 - other) + pair[3] * other);
      }
      sum += (at_zero * (1 - one) + at_one * one) / 2;
      if (!gradient) continue;
      at_zero +=
          model_.linear[0] + model_.square[0] * (2 * (zeros - (1 - one) - model_.centre) + 1);
      at_one += model_.linear[1] + model_.square[1] * (2 * (ones - one - model_.centre) + 1);
      gradient[r][i] = static_cast<float>(at_one - at_zero);
    }
    const double squares = (model_.square[0] + model_.square[1]) * spread;
    if (logp) logp[r] = sum + count_term(0, zeros) + count_term(1, ones) + squares;
  }
}

void GraphTarget::evaluate_and_cache(const At& where, Rows<const Symbol> x, double* logp,
                                     Rows<float> score, Rows<float> cache) const {
  if (logp || score) evaluate_rows(where, x, logp, score);
  for (int r = 0; cache && r < x.rows; ++r) {
    std::fill_n(cache[r], model_.levels, 0.0f);
    for (int i = 0; i < model_.n; ++i) cache[r][x[r][i]] += 1;
  }
}

}  // namespace saltus
