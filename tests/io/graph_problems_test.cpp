// Problems on graphs: large ones, which are not written as pairs, against sums over the edges; what
// states mean; repair.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "io/problems/graph.hpp"
#include "saltus/anneal.hpp"
#include "saltus/core/error.hpp"
#include "saltus/core/philox.hpp"
#include "saltus/generate.hpp"

namespace saltus {
namespace {

ProblemOptions options_for(const char* problem) {
  ProblemOptions options;
  options.problem = problem;
  return options;
}

Graph graph_of(const RandomGraph& random) {
  Graph graph{random.vertices, {}, {}, "graph"};
  for (const Coupling& e : random.edges) {
    graph.edges.emplace_back(e.i, e.j);
    if (random.weighted) graph.weights.push_back(e.weight);
  }
  return graph;
}

Graph small_graph(int vertices, std::vector<std::pair<int, int>> edges) {
  return {vertices, std::move(edges), {}, "graph"};
}

std::vector<Symbol> random_state(int n, int levels, std::uint32_t seed) {
  const Stream stream(seed, 0, 0, Purpose::check);
  std::vector<Symbol> x;
  for (int i = 0; i < n; ++i) {
    x.push_back(static_cast<Symbol>(stream.uniform(static_cast<std::uint32_t>(i)) * levels));
  }
  return x;
}

std::size_t at(int v) {
  return static_cast<std::size_t>(v);
}

double number(const StateReport& report, const std::string& name) {
  for (const auto& [key, value] : report.numbers) {
    if (key == name) return value;
  }
  ADD_FAILURE() << name;
  return NAN;
}

TEST(GraphProblems, LargeCliquesCountPairs) {
  const Graph graph = graph_of(erdos_renyi(200, 0.1, 3));
  ProblemOptions options = options_for("max-clique");
  options.penalty = 1.5;
  options.beta = 0.7;
  const Model model = graph_model(graph, options);
  ASSERT_TRUE(std::holds_alternative<GraphModel>(model.value));
  const auto target = make_target(model.value);
  for (std::uint32_t seed = 0; seed < 5; ++seed) {
    const std::vector<Symbol> x = random_state(200, 2, seed);
    double chosen = 0, inside = 0;
    for (const Symbol s : x) chosen += s;
    for (const auto& [u, v] : graph.edges) inside += x[at(u)] * x[at(v)];
    const double missing = chosen * (chosen - 1) / 2 - inside;
    EXPECT_NEAR(logp_of(*target, x.data()), 0.7 * (chosen - 1.5 * missing), 1e-8);
    EXPECT_EQ(number(model.problem->report(x), "missing_edges"), missing);
  }
}

TEST(GraphProblems, DenseGraphsListThePairs) {
  const Model model = graph_model(graph_of(erdos_renyi(200, 0.9, 3)), options_for("max-clique"));
  EXPECT_TRUE(std::holds_alternative<QuadraticModel>(model.value));
}

TEST(GraphProblems, LargePartitionsCountParts) {
  const Graph graph = graph_of(erdos_renyi(200, 0.05, 4, EdgeWeights::uniform));
  ProblemOptions options = options_for("partition");
  options.parts = 3;
  options.penalty = 0.02;
  const Model model = graph_model(graph, options);
  ASSERT_TRUE(std::holds_alternative<GraphModel>(model.value));
  const auto target = make_target(model.value);
  const std::vector<Symbol> x = random_state(200, 3, 1);
  double cut = 0, cost = 0, all = 0, differing = 0;
  for (std::size_t e = 0; e < graph.edges.size(); ++e) {
    const bool apart = x[at(graph.edges[e].first)] != x[at(graph.edges[e].second)];
    cut += apart ? graph.weights[e] : 0;
    all += graph.weights[e];
  }
  for (int k = 0; k < 3; ++k) {
    const auto size = static_cast<double>(std::ranges::count(x, static_cast<Symbol>(k)));
    cost += 0.02 * (size - 200 / 3.0) * (size - 200 / 3.0);
    differing += size * (200 - size);
  }
  EXPECT_NEAR(logp_of(*target, x.data()), -2 * cut - cost, 1e-9);
  const StateReport report = model.problem->report(x);
  EXPECT_NEAR(number(report, "cut_ratio"), cut / all, 1e-12);
  EXPECT_NEAR(number(report, "balance"), 3 * differing / (2.0 * 200 * 200), 1e-12);
  EXPECT_FALSE(report.feasible);
}

TEST(GraphProblems, RefusesWeightsThatMeanNothing) {
  const Graph graph = graph_of(erdos_renyi(20, 0.2, 4, EdgeWeights::uniform));
  for (const char* problem : {"mis", "max-clique", "colouring"}) {
    ProblemOptions options = options_for(problem);
    if (options.problem == "colouring") options.colours = 3;
    EXPECT_THROW(graph_model(graph, options), DataError) << problem;
  }
}

// A path 0 - 1 - 2 - 3 with 4 joined to 3: vertex 1 has two violated edges after 2 is chosen.
TEST(GraphProblems, RepairDropsTheEndWithMoreViolations) {
  const Model model =
      graph_model(small_graph(5, {{0, 1}, {1, 2}, {2, 3}, {3, 4}}), options_for("mis"));
  std::vector<Symbol> x{1, 1, 1, 0, 1};
  const StateReport before = model.problem->report(x);
  EXPECT_EQ(before.text, "4 vertices, 2 edges among them");
  EXPECT_EQ(before.feasible, false);
  EXPECT_EQ(model.problem->repair(x), 1);
  EXPECT_EQ(x, (std::vector<Symbol>{1, 0, 1, 0, 1}));
  EXPECT_EQ(model.problem->value(x), 3);
  EXPECT_EQ(model.problem->report(x).text, "3 vertices, no edge among them");
  std::vector<Symbol> tie{1, 1, 0, 0, 0};
  EXPECT_EQ(model.problem->repair(tie), 1);
  EXPECT_EQ(tie, (std::vector<Symbol>{1, 0, 0, 0, 0}));
}

// Among 0 to 3 all are joined but (0, 3); 4 is joined to none.
TEST(GraphProblems, RepairOfCliques) {
  const Model model = graph_model(small_graph(5, {{0, 1}, {0, 2}, {1, 2}, {1, 3}, {2, 3}}),
                                  options_for("max-clique"));
  std::vector<Symbol> x{1, 1, 1, 1, 1};
  EXPECT_EQ(number(model.problem->report(x), "missing_edges"), 5);
  EXPECT_EQ(model.problem->repair(x), 2);
  EXPECT_EQ(x, (std::vector<Symbol>{1, 1, 1, 0, 0}));
  EXPECT_EQ(model.problem->report(x).text, "3 vertices, all of them joined");
}

TEST(GraphProblems, RepairedStatesAreFeasible) {
  const Graph graph = graph_of(erdos_renyi(60, 0.3, 8));
  for (const char* problem : {"mis", "max-clique"}) {
    const Model model = graph_model(graph, options_for(problem));
    for (std::uint32_t seed = 0; seed < 20; ++seed) {
      std::vector<Symbol> x = random_state(60, 2, seed);
      const auto chosen = std::ranges::count(x, Symbol{1});
      const int dropped = model.problem->repair(x);
      EXPECT_EQ(model.problem->report(x).feasible, true);
      EXPECT_EQ(model.problem->value(x), static_cast<double>(chosen - dropped));
    }
  }
}

TEST(GraphProblems, ColoursAreCounted) {
  ProblemOptions options = options_for("colouring");
  options.colours = 4;
  const Model model = graph_model(small_graph(3, {{0, 1}, {1, 2}}), options);
  const std::vector<Symbol> proper{0, 1, 0}, same{2, 2, 2};
  EXPECT_EQ(model.problem->report(proper).text,
            "no edge joins vertices of one colour, 2 colours used");
  EXPECT_EQ(model.problem->report(same).text, "2 edges join vertices of one colour, 1 colour used");
  EXPECT_EQ(model.problem->report(same).feasible, false);
}

TEST(Clauses, AreCounted) {
  FactorsModel formula;
  formula.levels = {2, 2, 2};
  using Literal = FactorsModel::Literal;
  formula.add_clause(std::vector<Literal>{{0, 1}, {1, 0}}, 1);
  formula.add_clause(std::vector<Literal>{{2, 1}}, 1);
  auto model = std::make_shared<Model>();
  model->value = formula;
  const auto problem = problem_of(model);
  EXPECT_EQ(problem->report(std::vector<Symbol>{1, 1, 1}).text, "satisfied: all 2 clauses hold");
  const StateReport broken = problem->report(std::vector<Symbol>{0, 1, 0});
  EXPECT_EQ(broken.text, "2 of 2 clauses do not hold");
  EXPECT_EQ(broken.feasible, false);
  std::get<FactorsModel>(model->value).weights[1] = INFINITY;
  const auto hard = problem_of(model);
  EXPECT_EQ(hard->report(std::vector<Symbol>{0, 1, 1}).feasible, true);
  EXPECT_EQ(hard->report(std::vector<Symbol>{1, 1, 0}).text,
            "1 of 2 clauses do not hold, 1 of them hard");
}

// In a ring of five no more than two vertices are independent. A penalty of 1/2 prefers others.
TEST(GraphProblems, SearchRepairsWhatItFound) {
  ProblemOptions options = options_for("mis");
  options.penalty = 0.5;
  Model model = graph_model(small_graph(5, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {0, 4}}), options);
  model.target = make_target(model.value);
  AnnealRequest request(std::move(model));
  request.steps = 50, request.restarts = 20, request.goal = 2.5;
  const AnnealResult result = anneal(request);
  EXPECT_EQ(result.best->logp, 2.5);
  EXPECT_EQ(result.report->feasible, false);
  EXPECT_EQ(result.solution->value, 2);
  EXPECT_GT(result.solution->repaired, 0);
  EXPECT_EQ(request.problem->report(result.solution->state).feasible, true);
  ASSERT_TRUE(result.first_reach);
  EXPECT_EQ(result.first_reach->evaluations, 20 * result.first_reach->step);
  const auto first = *std::ranges::min_element(result.restarts.step);
  EXPECT_GE(result.first_reach->step, first);
}

}  // namespace
}  // namespace saltus
