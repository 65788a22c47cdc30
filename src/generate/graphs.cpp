// Graphs. Edges are drawn first, then their weights, in the order of the edges.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "generate/uniforms.hpp"
#include "saltus/core/error.hpp"
#include "saltus/generate.hpp"
#include "saltus/target/ising_lattice.hpp"

namespace saltus {
namespace {

constexpr int kMostVertices = 100'000'000;
constexpr double kMostEdges = 1e8;

std::size_t at(std::int64_t i) {
  return static_cast<std::size_t>(i);
}

void check_size(int vertices, double edges) {
  if (vertices < 1 || vertices > kMostVertices) {
    throw UsageError(fmt::format("a graph of {} vertices cannot be made; expected 1 to {}",
                                 vertices, kMostVertices));
  }
  if (edges > kMostEdges) {
    throw UsageError(fmt::format("the graph would have about {:.0f} edges; at most {:.0f} are made",
                                 edges, kMostEdges));
  }
}

RandomGraph weighed(RandomGraph graph, EdgeWeights weights, Uniforms& random) {
  graph.weighted = weights != EdgeWeights::none;
  for (Coupling& edge : graph.edges) {
    if (weights == EdgeWeights::signs) edge.weight = random.next() < 0.5 ? 1 : -1;
    if (weights == EdgeWeights::uniform) edge.weight = random.next();
    if (weights == EdgeWeights::gaussian) edge.weight = random.normal();
  }
  return graph;
}

double pairs_of(int vertices) {
  return 0.5 * vertices * (vertices - 1.0);
}

// The edges of a regular graph as they are drawn: a vertex has as many points as its degree.
class Points {
 public:
  Points(int vertices, int degree)
      : degree_(degree), neighbours_(at(std::int64_t{vertices} * degree)), degrees_(at(vertices)) {
    for (int v = 0; v < vertices; ++v) free_.insert(free_.end(), at(degree), v);
  }

  bool all_joined() const { return free_.empty(); }

  // Joins two free points, unless that makes a loop or an edge that is there.
  bool join(Uniforms& random) {
    const auto size = static_cast<std::int64_t>(free_.size());
    const std::int64_t a = random.below(size), b = random.below(size);
    const auto [u, v] = std::minmax(free_[at(a)], free_[at(b)]);
    if (a == b || u == v || joined(u, v)) return false;
    neighbours_[at(std::int64_t{u} * degree_ + degrees_[at(u)]++)] = v;
    neighbours_[at(std::int64_t{v} * degree_ + degrees_[at(v)]++)] = u;
    remove(std::max(a, b)), remove(std::min(a, b));
    return true;
  }

  std::vector<Coupling> edges() const {  // in increasing order
    std::vector<Coupling> edges;
    for (int u = 0; u < static_cast<int>(degrees_.size()); ++u) {
      const auto begin = neighbours_.begin() + std::int64_t{u} * degree_;
      std::vector<int> others(begin, begin + degrees_[at(u)]);
      std::ranges::sort(others);
      for (const int v : others) {
        if (u < v) edges.push_back({u, v, 1});
      }
    }
    return edges;
  }

 private:
  bool joined(int u, int v) const {
    const auto begin = neighbours_.begin() + std::int64_t{u} * degree_;
    return std::find(begin, begin + degrees_[at(u)], v) != begin + degrees_[at(u)];
  }
  // The last point takes its place.
  void remove(std::int64_t point) {
    free_[at(point)] = free_.back();
    free_.pop_back();
  }

  int degree_;
  std::vector<int> neighbours_, degrees_, free_;
};

}  // namespace

// The gaps between edges are geometric: pair t in the order (0,1), (0,2), ..., (n-2,n-1).
RandomGraph erdos_renyi(int vertices, double p, std::uint64_t seed, EdgeWeights weights) {
  if (!(p >= 0 && p <= 1)) {
    throw UsageError(fmt::format("the probability of an edge is {}; expected 0 to 1", p));
  }
  check_size(vertices, p * pairs_of(vertices));
  Uniforms random(seed);
  RandomGraph graph{vertices, {}};
  const double pairs = pairs_of(vertices), log_gap = std::log1p(-p);
  std::int64_t row = 0, row_begin = 0;  // pairs (row, ..), of which the first is pair row_begin
  for (double t = -1; p > 0;) {
    t += 1 + std::floor(std::log(random.next()) / log_gap);
    if (t >= pairs) break;
    const auto pair = static_cast<std::int64_t>(t);
    for (; pair - row_begin >= vertices - 1 - row; ++row) row_begin += vertices - 1 - row;
    graph.edges.push_back({static_cast<int>(row), static_cast<int>(row + 1 + pair - row_begin), 1});
  }
  return weighed(std::move(graph), weights, random);
}

RandomGraph barabasi_albert(int vertices, int m, std::uint64_t seed, EdgeWeights weights) {
  if (m < 1 || m >= vertices) {
    throw UsageError(
        fmt::format("each new vertex is to have {} edges; expected 1 to {}, fewer than "
                    "the graph has vertices",
                    m, vertices - 1));
  }
  check_size(vertices, double{1} * m * (vertices - m));
  Uniforms random(seed);
  RandomGraph graph{vertices, {}};
  std::vector<int> ends, chosen;  // an end for each edge of a vertex
  const auto add = [&](int u, int v) {
    graph.edges.push_back({u, v, 1});
    ends.push_back(u), ends.push_back(v);
  };
  for (int u = 0; u < m; ++u) add(u, m);
  for (int v = m + 1; v < vertices; ++v) {
    chosen.clear();
    while (static_cast<int>(chosen.size()) < m) {
      const int u = ends[at(random.below(static_cast<std::int64_t>(ends.size())))];
      if (std::ranges::find(chosen, u) == chosen.end()) chosen.push_back(u);
    }
    for (const int u : chosen) add(u, v);
  }
  return weighed(std::move(graph), weights, random);
}

RandomGraph random_regular(int vertices, int degree, std::uint64_t seed, EdgeWeights weights) {
  if (degree < 0 || degree >= vertices || std::int64_t{vertices} * degree % 2 != 0) {
    throw UsageError(
        fmt::format("no graph of {} vertices is regular of degree {}; expected a "
                    "degree below {}, and an even product of the two",
                    vertices, degree, vertices));
  }
  check_size(vertices, 0.5 * vertices * degree);
  Uniforms random(seed);
  const std::int64_t most_tries = std::int64_t{100} * degree * degree;
  for (;;) {  // points that cannot be joined are met rarely
    Points points(vertices, degree);
    std::int64_t tries = 0;
    while (!points.all_joined() && tries < most_tries) tries = points.join(random) ? 0 : tries + 1;
    if (!points.all_joined()) continue;
    return weighed({vertices, points.edges()}, weights, random);
  }
}

RandomGraph model_rb(int groups, int size, double p, std::uint64_t seed, EdgeWeights weights) {
  const double pairs = double{1} * size * size, joined = std::round(p * pairs);
  if (groups < 2 || size < 2 || !(joined >= 1 && joined < pairs)) {
    throw UsageError(
        fmt::format("{} groups of {} vertices cannot have a part {} of the pairs of two groups "
                    "joined; expected 2 groups of 2 vertices or more, and a part with at least "
                    "one of the pairs and not all of them",
                    groups, size, p));
  }
  const double meetings = std::round(-groups * std::log(size) / std::log1p(-p));
  if (double{1} * groups * size > kMostVertices) check_size(kMostVertices + 1, 0);
  check_size(groups * size, meetings * joined + groups * pairs_of(size));
  Uniforms random(seed);
  RandomGraph graph{groups * size, {}};
  std::vector<int> hidden;
  for (int g = 0; g < groups; ++g) {
    hidden.push_back(static_cast<int>(random.below(size)));
    for (int a = 0; a < size; ++a) {
      for (int b = a + 1; b < size; ++b) graph.edges.push_back({g * size + a, g * size + b, 1});
    }
  }
  for (auto m = static_cast<std::int64_t>(meetings); m > 0; --m) {
    const auto u = static_cast<int>(random.below(groups));
    auto v = static_cast<int>(random.below(groups - 1));
    v += v >= u;
    // Selection sampling (Knuth, volume 2, algorithm 3.4.2 S) among all pairs but the hidden one.
    double left = pairs - 1, wanted = joined;
    for (int a = 0; a < size; ++a) {
      for (int b = 0; b < size; ++b) {
        if (a == hidden[at(u)] && b == hidden[at(v)]) continue;
        if (random.next() * left-- >= wanted) continue;
        --wanted;
        const int i = u * size + a, j = v * size + b;
        graph.edges.push_back({std::min(i, j), std::max(i, j), 1});
      }
    }
  }
  const auto ends = [](const Coupling& e) { return std::pair(e.i, e.j); };
  std::ranges::sort(graph.edges, {}, ends);
  const auto same = [&](const Coupling& a, const Coupling& b) { return ends(a) == ends(b); };
  graph.edges.erase(std::unique(graph.edges.begin(), graph.edges.end(), same), graph.edges.end());
  return weighed(std::move(graph), weights, random);
}

RandomGraph sherrington_kirkpatrick(int vertices, std::uint64_t seed, EdgeWeights weights) {
  check_size(vertices, pairs_of(vertices));
  RandomGraph graph{vertices, {}};
  for (int i = 0; i < vertices; ++i) {
    for (int j = i + 1; j < vertices; ++j) graph.edges.push_back({i, j, 1});
  }
  Uniforms random(seed);
  graph = weighed(std::move(graph), weights, random);
  const double scale = weights == EdgeWeights::gaussian ? std::sqrt(vertices) : 1;
  for (Coupling& edge : graph.edges) edge.weight /= scale;
  return graph;
}

RandomGraph lattice_glass(int side, int dimensions, std::uint64_t seed, EdgeWeights weights) {
  if (side < 1 || dimensions < 1 || dimensions > 20) {
    throw UsageError(
        fmt::format("a lattice with sides of {} sites in {} dimensions cannot be made; expected "
                    "sides from 1 on and 1 to 20 dimensions",
                    side, dimensions));
  }
  const double sites = std::pow(side, dimensions);
  if (sites > kMostVertices) {
    throw UsageError(fmt::format("the lattice would have {:.0f} sites; at most {} are made", sites,
                                 kMostVertices));
  }
  const auto vertices = static_cast<int>(sites);
  check_size(vertices, sites * dimensions);
  RandomGraph graph{vertices,
                    lattice_edges({std::vector<int>(at(dimensions), side), true, 0.5, 0})};
  Uniforms random(seed);
  return weighed(std::move(graph), weights, random);
}

IsingModel spin_model(const RandomGraph& graph) {
  IsingModel model{graph.vertices, graph.edges, std::vector<double>(at(graph.vertices))};
  for (Coupling& c : model.couplings) c.weight = -c.weight;
  return model;
}

}  // namespace saltus
