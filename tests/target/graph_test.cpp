// Graphs with terms of counts against the same models written as pairs.
#include "saltus/target/graph.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "saltus/core/error.hpp"
#include "saltus/diagnose/exact.hpp"
#include "saltus/target/potts.hpp"
#include "saltus/target/quadratic.hpp"

namespace saltus {
namespace {

constexpr int kVertices = 6;
const std::vector<std::pair<int, int>> kEdges = {{0, 1}, {1, 2}, {0, 2}, {2, 3}, {3, 4}, {0, 4}};

bool joined(int u, int v) {
  return std::ranges::find(kEdges, std::pair(u, v)) != kEdges.end();
}

std::vector<Coupling> weighted_edges() {
  std::vector<Coupling> edges;
  for (const auto& [u, v] : kEdges) edges.push_back({u, v, 1});
  return edges;
}

// Scores beside `counted`: equal, but for what all levels of a coordinate share.
void expect_same(const Target& counted, const Target& pairs) {
  const StateTable a(counted), b(pairs);
  ASSERT_EQ(a.size(), b.size());
  const Domain& domain = counted.domain();
  std::vector<double> score(static_cast<std::size_t>(domain.score_size())), other(score.size());
  const bool levels = domain.kind() == Domain::Kind::categorical;
  for (std::size_t s = 0; s < a.size(); ++s) {
    EXPECT_NEAR(a.logp(s), b.logp(s), 1e-12);
    EXPECT_NEAR(logp_of(counted, a.state(s), score.data()), b.logp(s), 1e-12);
    logp_of(pairs, a.state(s), other.data());
    for (int i = 0; i < domain.dim(); ++i) {
      const auto first = static_cast<std::size_t>(domain.score_begin(i));
      const std::size_t count = levels ? static_cast<std::size_t>(domain.levels(i)) : 1;
      for (std::size_t k = first; k < first + count; ++k) {
        const double zero = levels ? score[first] - other[first] : 0;
        EXPECT_NEAR(score[k], other[k] + zero, 1e-12) << s << " " << i;
      }
    }
  }
}

TEST(GraphTarget, CliquesAreThoseOfListedPairs) {
  for (const double penalty : {1.0, 1.7}) {
    const GraphTarget counted({kVertices,
                               2,
                               weighted_edges(),
                               {0, 0, 0, penalty},
                               {0, 1 + penalty / 2},
                               {0, -penalty / 2},
                               0,
                               0});
    std::vector<Coupling> pairs;
    for (int u = 0; u < kVertices; ++u) {
      for (int v = u + 1; v < kVertices; ++v) {
        if (!joined(u, v)) pairs.push_back({u, v, -penalty});
      }
    }
    expect_same(counted, Quadratic("pairs", Domain::binary(kVertices), pairs,
                                   std::vector<double>(kVertices, 1)));
  }
}

TEST(GraphTarget, PartsAreThoseOfListedPairs) {
  constexpr int kParts = 3;
  const double penalty = 0.3;
  const GraphTarget counted({kVertices,
                             kParts,
                             weighted_edges(),
                             {0, -2, -2, -2, 0, -2, -2, -2, 0},
                             {0, 0, 0},
                             {-penalty, -penalty, -penalty},
                             2,
                             0});
  std::vector<PottsEdge> pairs;
  for (int u = 0; u < kVertices; ++u) {
    for (int v = u + 1; v < kVertices; ++v) {
      PottsEdge edge{u, v, std::vector<double>(9, joined(u, v) ? -2 : 0)};
      for (const std::size_t k : {0u, 4u, 8u}) edge.table[k] = -2 * penalty;
      pairs.push_back(edge);
    }
  }
  PottsModel model{Domain::categorical(kVertices, kParts), std::vector<double>(18), pairs};
  model.constant = -penalty * (kVertices - kVertices * kVertices / 3.0);
  expect_same(counted, Potts(model));
}

TEST(GraphTarget, RefusesWhatDoesNotFit) {
  const GraphModel good{3, 2, {{0, 1, 1}}, {0, 1, 1, 0}, {0, 0}, {0, 0}};
  EXPECT_NO_THROW(GraphTarget{good});
  GraphModel loop = good, far = good, uneven = good, rows = good;
  loop.edges[0].j = 0;
  far.edges[0].j = 3;
  uneven.pair[1] = 2;
  rows.square.push_back(0);
  for (const GraphModel& bad : {loop, far, uneven, rows}) EXPECT_THROW(GraphTarget{bad}, DataError);
}

}  // namespace
}  // namespace saltus
