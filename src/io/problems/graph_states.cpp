// What states mean for problems on graphs.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/number_text.hpp"
#include "io/problems/graph.hpp"

namespace saltus {
namespace {

using GraphOwner = std::shared_ptr<const Graph>;

std::size_t place_of(int v) {
  return static_cast<std::size_t>(v);
}

// "no edge", "1 edge", "2 edges"
std::string some(std::size_t count, const char* one, const char* more) {
  if (count == 0) return std::string("no ") + one;
  return with_commas(count) + " " + (count == 1 ? one : more);
}

std::size_t chosen_in(std::span<const Symbol> x) {
  return static_cast<std::size_t>(std::ranges::count_if(x, [](Symbol s) { return s != 0; }));
}

// Vertices that may not be chosen together come in pairs. Of each pair that is chosen, in order,
// the end with more such pairs is dropped; of equal ends the one with the higher index.
class Drop {
 public:
  explicit Drop(std::span<Symbol> x) : x_(x), violations_(x.size()) {}

  void count(int u, int v) { ++violations_[place_of(u)], ++violations_[place_of(v)]; }
  // `each_violated(v, f)` calls f for the vertices that v violates a pair with.
  template <class EachViolated>
  void settle(int u, int v, EachViolated each_violated) {
    if (!x_[place_of(u)] || !x_[place_of(v)]) return;
    const int more = violations_[place_of(u)] > violations_[place_of(v)]   ? u
                     : violations_[place_of(u)] < violations_[place_of(v)] ? v
                                                                           : std::max(u, v);
    each_violated(more, [&](int other) { --violations_[place_of(other)]; });
    x_[place_of(more)] = 0;
    ++dropped_;
  }
  int dropped() const { return dropped_; }

 private:
  std::span<Symbol> x_;
  std::vector<int> violations_;
  int dropped_ = 0;
};

// The vertices that are joined to each one.
class Adjacency {
 public:
  explicit Adjacency(const Graph& graph) : begin_(place_of(graph.vertices) + 1) {
    for (const auto& [u, v] : graph.edges) ++begin_[place_of(u) + 1], ++begin_[place_of(v) + 1];
    std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
    others_.resize(begin_.back());
    std::vector<std::size_t> next(begin_.begin(), begin_.end() - 1);
    for (const auto& [u, v] : graph.edges) {
      others_[next[place_of(u)]++] = v;
      others_[next[place_of(v)]++] = u;
    }
  }
  std::span<const int> of(int v) const {
    return std::span(others_).subspan(begin_[place_of(v)],
                                      begin_[place_of(v) + 1] - begin_[place_of(v)]);
  }

 private:
  std::vector<std::size_t> begin_;
  std::vector<int> others_;
};

class IndependentSet final : public Problem {
 public:
  explicit IndependentSet(GraphOwner graph) : graph_(std::move(graph)), near_(*graph_) {}
  std::string name() const override { return "mis"; }
  bool repairs() const override { return true; }
  double value(std::span<const Symbol> x) const override {
    return static_cast<double>(chosen_in(x));
  }

  StateReport report(std::span<const Symbol> x) const override {
    std::size_t violated = 0;
    for (const auto& [u, v] : graph_->edges) violated += x[place_of(u)] && x[place_of(v)];
    const std::size_t size = chosen_in(x);
    return {
        some(size, "vertex", "vertices") + ", " + some(violated, "edge", "edges") + " among them",
        violated == 0,
        {{"size", static_cast<double>(size)}, {"violated_edges", static_cast<double>(violated)}}};
  }

  int repair(std::span<Symbol> x) const override {
    Drop drop(x);
    std::vector<std::pair<int, int>> violated;
    for (const auto& [u, v] : graph_->edges) {
      if (!x[place_of(u)] || !x[place_of(v)]) continue;
      violated.emplace_back(u, v);
      drop.count(u, v);
    }
    for (const auto& [u, v] : violated) {
      drop.settle(u, v, [&](int dropped, auto each) {
        for (const int other : near_.of(dropped)) {
          if (x[place_of(other)]) each(other);
        }
      });
    }
    return drop.dropped();
  }

 private:
  GraphOwner graph_;
  Adjacency near_;
};

class Clique final : public Problem {
 public:
  explicit Clique(GraphOwner graph) : graph_(std::move(graph)), near_(*graph_) {}
  std::string name() const override { return "max-clique"; }
  bool repairs() const override { return true; }
  double value(std::span<const Symbol> x) const override {
    return static_cast<double>(chosen_in(x));
  }

  StateReport report(std::span<const Symbol> x) const override {
    std::size_t inside = 0;
    for (const auto& [u, v] : graph_->edges) inside += x[place_of(u)] && x[place_of(v)];
    const std::size_t size = chosen_in(x), missing = size * (size - (size > 0)) / 2 - inside;
    return {some(size, "vertex", "vertices") + ", " +
                (missing == 0 ? "all of them joined"
                              : some(missing, "pair", "pairs") + " of them not joined"),
            missing == 0,
            {{"size", static_cast<double>(size)}, {"missing_edges", static_cast<double>(missing)}}};
  }

  int repair(std::span<Symbol> x) const override {
    std::vector<int> chosen;
    for (int v = 0; v < graph_->vertices; ++v) {
      if (x[place_of(v)]) chosen.push_back(v);
    }
    Drop drop(x);
    std::vector<bool> joined(x.size());
    const auto each_missing = [&](int v, auto each) {  // among the chosen ones
      for (const int other : near_.of(v)) joined[place_of(other)] = true;
      for (const int other : chosen) {
        if (other != v && x[place_of(other)] && !joined[place_of(other)]) each(other);
      }
      for (const int other : near_.of(v)) joined[place_of(other)] = false;
    };
    std::vector<std::pair<int, int>> missing;
    for (const int u : chosen) {
      each_missing(u, [&](int v) {
        if (u > v) return;
        missing.emplace_back(u, v);
        drop.count(u, v);
      });
    }
    for (const auto& [u, v] : missing) drop.settle(u, v, each_missing);
    return drop.dropped();
  }

 private:
  GraphOwner graph_;
  Adjacency near_;
};

std::vector<std::size_t> level_counts(std::span<const Symbol> x, int levels) {
  std::vector<std::size_t> counts(place_of(levels));
  for (const Symbol s : x) ++counts[s];
  return counts;
}

class Colouring final : public Problem {
 public:
  Colouring(GraphOwner graph, int colours) : graph_(std::move(graph)), colours_(colours) {}
  std::string name() const override { return "colouring"; }

  StateReport report(std::span<const Symbol> x) const override {
    std::size_t conflicts = 0;
    for (const auto& [u, v] : graph_->edges) conflicts += x[place_of(u)] == x[place_of(v)];
    const std::vector<std::size_t> counts = level_counts(x, colours_);
    const auto used =
        counts.size() - static_cast<std::size_t>(std::ranges::count(counts, std::size_t{0}));
    return {some(conflicts, "edge", "edges") + (conflicts > 1 ? " join" : " joins") +
                " vertices of one colour, " + some(used, "colour", "colours") + " used",
            conflicts == 0,
            {{"conflicts", static_cast<double>(conflicts)},
             {"colours_used", static_cast<double>(used)}}};
  }

 private:
  GraphOwner graph_;
  int colours_;
};

class Partition final : public Problem {
 public:
  Partition(GraphOwner graph, int parts) : graph_(std::move(graph)), parts_(parts) {}
  std::string name() const override { return "partition"; }

  // The balance is 1 where all parts are of equal size, and 0 where all vertices are in one part.
  StateReport report(std::span<const Symbol> x) const override {
    std::size_t cut = 0;
    double weight = 0, all = 0;
    for (std::size_t e = 0; e < graph_->edges.size(); ++e) {
      const auto& [u, v] = graph_->edges[e];
      all += graph_->weight(e);
      if (x[place_of(u)] == x[place_of(v)]) continue;
      ++cut;
      weight += graph_->weight(e);
    }
    const std::vector<std::size_t> sizes = level_counts(x, parts_);
    const auto [least, most] = std::ranges::minmax(sizes);
    const double n = graph_->vertices, k = parts_;
    double squares = 0;
    for (const std::size_t s : sizes) squares += static_cast<double>(s) * static_cast<double>(s);
    const double balance = k * (n * n - squares) / ((k - 1) * n * n);
    const double ratio = all != 0 ? weight / all : 0;
    std::string text = fmt::format("{} of {} cut ({:.4f}", some(cut, "edge", "edges"),
                                   with_commas(graph_->edges.size()), ratio);
    text += graph_->weights.empty() ? ")" : " of the weight)";
    text += fmt::format(", parts of {} to {} vertices, balance {:.6f}", with_commas(least),
                        with_commas(most), balance);
    return {text,
            std::nullopt,
            {{"cut_edges", static_cast<double>(cut)},
             {"cut_weight", weight},
             {"cut_ratio", ratio},
             {"balance", balance},
             {"smallest_part", static_cast<double>(least)},
             {"largest_part", static_cast<double>(most)}}};
  }

 private:
  GraphOwner graph_;
  int parts_;
};

}  // namespace

std::shared_ptr<const Problem> independent_set_problem(GraphOwner graph) {
  return std::make_shared<IndependentSet>(std::move(graph));
}
std::shared_ptr<const Problem> clique_problem(GraphOwner graph) {
  return std::make_shared<Clique>(std::move(graph));
}
std::shared_ptr<const Problem> colouring_problem(GraphOwner graph, int colours) {
  return std::make_shared<Colouring>(std::move(graph), colours);
}
std::shared_ptr<const Problem> partition_problem(GraphOwner graph, int parts) {
  return std::make_shared<Partition>(std::move(graph), parts);
}

}  // namespace saltus
