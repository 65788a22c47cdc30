// Readers of factor graphs: logarithms from digits, answers, and damaged files.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "io/factors/factor_forms.hpp"
#include "io/factors/factor_problem.hpp"
#include "io/factors/uai_answers.hpp"
#include "io/problems/formats.hpp"
#include "saltus/core/error.hpp"
#include "test_files.hpp"

namespace {

using namespace saltus;

TEST(Logarithms, OfDigitsAndExponent) {
  const double ten = std::log(10.0);
  const std::pair<const char*, double> good[] = {
      {"1", 0},
      {"+2.5", std::log(2.5)},
      {"1e-400", -400 * ten},
      {"3E-400", std::log(3) - 400 * ten},
      {".0005e-396", std::log(5) - 400 * ten},
      {"12345678901234567890123456789e-430", std::log(1.2345678901234568) - 402 * ten},
      {"0.000000000000000000000000000001e-380", -410 * ten},
      {"1e-310", -310 * ten},
      {"5e-324", std::log(5) - 324 * ten},
      {"1e-1000000", -1e6 * ten},
      {"1e308", 308 * ten}};
  for (const auto& [word, expected] : good) {
    double value = NAN, logarithm = NAN;
    EXPECT_TRUE(logarithm_in_decimals(word, value, logarithm)) << word;
    EXPECT_NEAR(logarithm, expected, 1e-14 * (1 + std::abs(expected))) << word;
  }
  for (const char* word : {"0", "0.0", "-0", "+.0", "0e5", "0e-99999999999999999999"}) {
    double value = NAN, logarithm = NAN;
    EXPECT_TRUE(logarithm_in_decimals(word, value, logarithm)) << word;
    EXPECT_EQ(logarithm, -INFINITY) << word;
  }
  for (const char* word :
       {"-1", "-1e-400", "1e400", "nan", "inf", "", "x", "-", ".", "1e", "0x1"}) {
    double value = NAN, logarithm = NAN;
    EXPECT_FALSE(logarithm_in_decimals(word, value, logarithm)) << word;
  }
}

TEST(UaiAnswers, Texts) {
  EXPECT_EQ(uai_task("a/b.mar"), UaiTask::mar);
  EXPECT_EQ(uai_task("B.MPE"), UaiTask::mpe);
  EXPECT_THROW(uai_task("b.uai"), UsageError);
  EXPECT_EQ(pr_answer(0), "PR\n0\n");
  EXPECT_EQ(mar_answer(std::vector{2, 1}, std::vector{0.25, 0.75, 1.0}),
            "MAR\n2 2 0.25 0.75 1 1\n");
  EXPECT_EQ(mpe_answer(std::vector<Symbol>{3, 0}), "MPE\n2 3 0\n");
}

double logp(const FactorsModel& graph, std::size_t state) {
  double sum = graph.constant;
  const auto level = [&](std::int32_t i) { return static_cast<int>(state >> i & 1); };
  for (std::size_t t = 0; t < graph.tables(); ++t) {
    std::size_t entry = 0;
    for (const std::int32_t i : graph.scope(t)) entry = 2 * entry + std::size_t(level(i));
    sum += graph.table(t)[entry];
  }
  for (std::size_t c = 0; c < graph.clauses(); ++c) {
    bool holds = false;
    for (const auto& l : graph.clause(c)) holds = holds || level(l.coordinate) == l.level;
    if (!holds) sum -= graph.weights[c];
  }
  return sum;
}

TEST(FactorForms, KeepTheLaw) {
  FactorsModel graph;
  graph.levels.assign(4, 2);
  graph.constant = 0.5;
  using Literal = FactorsModel::Literal;
  graph.add_table(std::vector{2, 0}, std::vector<double>{0.25, -INFINITY, 1, -2});
  graph.add_table(std::vector<std::int32_t>{}, std::vector{-0.75});
  graph.add_table(std::vector{3}, std::vector{1.0, 1.0});
  graph.add_clause(std::vector<Literal>{{3, 1}, {1, 0}, {2, 1}}, 1.5);
  graph.add_clause(std::vector<Literal>{{0, 1}, {1, 1}, {0, 1}}, INFINITY);
  graph.add_clause(std::vector<Literal>{{2, 0}, {2, 1}}, 3);
  graph.add_clause({}, 0.125);
  const FactorsModel tables = with_tables_alone(graph), clauses = with_clauses_alone(graph);
  EXPECT_EQ(tables.clauses(), 0u);
  EXPECT_EQ(clauses.tables(), 0u);
  for (std::size_t state = 0; state < 16; ++state) {
    const double expected = logp(graph, state);
    for (const FactorsModel* form : {&tables, &clauses}) {
      const double found = logp(*form, state);
      if (std::isinf(expected)) {
        EXPECT_EQ(found, expected);
      } else {
        EXPECT_NEAR(found, expected, 1e-14);
      }
    }
  }
}

// Cut anywhere, with a byte changed, with two words exchanged: a model or a refusal.
TEST(FactorText, DamagedFiles) {
  const std::pair<const char*, const char*> files[] = {
      {"uai", "MARKOV 3 2 3 1 2 2 1 0 2 2 1\n6 1 2e0 .25 3 .75 0 3 1 1e-400 2\n"},
      {"uai", "BAYES 2 2 2 2 1 0 2 0 1 2 .5 .5 4 .1 .9 .3 .7"},
      {"lg", "MARKOV 2 2 3 1 2 0 1 6 0 1 -1e38 0.25 -inf -0.5"},
      {"fg", "2\n\n2\n9 3\n2 3\n2\n0 0.5\n3 1\n\n1\n9\n2\n1\n1 3\n"},
      {"cnf", "p cnf 4 3\n1 -2 0 2 3\n-4 0\nc x\n4 4 1 0\n%\n0\n"},
      {"wcnf", "p wcnf 3 3 9\n9 1 2 0\n2.5 -1 0\n3 -2 3 0\n"},
      {"wcnf", "h 1 -3 0\n2 -1 2 0\n4 3 0\n"}};
  std::mt19937 random(7);
  const std::string alphabet = "0123456789 \n-.eEhcp%#x";
  int models = 0, refusals = 0;
  for (const auto& [name, text] : files) {
    const auto format = std::ranges::find(problem_formats(), name, &ProblemFormat::name);
    ASSERT_NE(format, problem_formats().end());
    for (int k = 0; k < 400; ++k) {
      std::string damaged = text;
      const std::size_t at = random() % damaged.size();
      if (k % 2 == 0) damaged[at] = alphabet[random() % alphabet.size()];
      if (k % 2 == 1) damaged.resize(at);
      const ByteSource source = memory_bytes(std::as_bytes(std::span(damaged)), "f");
      const bool read = succeeds([&] { make_target(format->read(source, {}).value); });
      ++(read ? models : refusals);
    }
  }
  EXPECT_GT(models, 100);
  EXPECT_GT(refusals, 1000);
}

}  // namespace
