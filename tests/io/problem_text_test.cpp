// The words and numbers of problem files, and energies of two-level variables.
#include "io/problems/problem_text.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "io/problems/formats.hpp"
#include "io/problems/pair_problem.hpp"
#include "saltus/core/error.hpp"

namespace {

using namespace saltus;

ByteSource source_of(const std::string& text) {
  return memory_bytes(std::as_bytes(std::span(text)), "t");
}

TEST(ProblemText, Numbers) {
  const std::pair<const char*, double> good[] = {
      {"1", 1},      {"+1", 1},     {"-2.5", -2.5},          {".5", 0.5},   {"5.", 5},
      {"1e3", 1000}, {"1E-2", .01}, {"-.5e+1", -5},          {"1e-400", 0}, {"-1e-999", 0},
      {"007", 7},    {"0", 0},      {"123456789", 123456789}};
  for (const auto& [word, expected] : good) {
    double value = NAN;
    EXPECT_TRUE(number_in_decimals(word, value)) << word;
    EXPECT_EQ(value, expected) << word;
  }
  for (const char* word :
       {"",    "+",   "-",   ".",     "e5",     "1e",  "inf", "nan",      "-inf", "0x10", "1,5",
        "1d3", "+-1", "++1", "1e400", "-1e400", "1 2", "--1", "infinity", "1_0",  "-.",   "1e+"}) {
    double value = 0;
    EXPECT_FALSE(number_in_decimals(word, value)) << word;
  }
  for (const char* word :
       {"1.0", "1e3", "", "+", "-", "+-1", "99999999999999999999", "0x1", "1a"}) {
    std::int64_t value = 0;
    EXPECT_FALSE(whole_in(word, value)) << word;
  }
}

TEST(ProblemText, LinesAndWords) {
  const std::string text = "\xef\xbb\xbf\n  a  b\tc \r\n\n\r\nlast one";
  const ByteSource source = source_of(text);
  ProblemText lines(source);
  ASSERT_TRUE(lines.next_line());
  EXPECT_EQ(lines.line_number(), 2u);
  ASSERT_EQ(lines.words().size(), 3u);
  EXPECT_EQ(lines.words()[2], "c");
  ASSERT_TRUE(lines.next_line());
  EXPECT_EQ(lines.line_number(), 5u);
  EXPECT_EQ(lines.line(), "last one");
  EXPECT_FALSE(lines.next_line());
}

// Lines across the blocks that are read, and one that is longer than a block.
TEST(ProblemText, LongFiles) {
  std::string text;
  std::vector<std::string> expected;
  for (int k = 0; k < 60000; ++k) {
    expected.push_back(k == 30000 ? std::string(700'000, 'x') : "line " + std::to_string(k * 7919));
    text += expected.back() + "\n";
  }
  const ByteSource source = source_of(text);
  ProblemText lines(source);
  for (std::size_t k = 0; k < expected.size(); ++k) {
    ASSERT_TRUE(lines.next_line());
    ASSERT_EQ(lines.line(), expected[k]);
    ASSERT_EQ(lines.line_number(), k + 1);
  }
  EXPECT_FALSE(lines.next_line());
}

TEST(ProblemText, EntryLines) {
  EntryLines lines;
  const std::size_t at[] = {2, 3, 4, 8, 9, 20};
  for (const std::size_t line : at) lines.add(line);
  for (std::size_t k = 0; k < std::size(at); ++k) EXPECT_EQ(lines.line_of(k), at[k]);
}

TEST(PairProblem, SpinsAndBitsHaveTheSameEnergy) {
  const PairProblem spins{true, {0.5, -1, 2}, {{0, 1, 0.7}, {2, 1, -0.3}}, 1.5, {}};
  const PairProblem bits = as_bits(spins), again = as_spins(bits);
  for (int state = 0; state < 8; ++state) {
    const auto energy = [&](const PairProblem& p) {
      const auto v = [&](int i) { return p.spins ? 2 * (state >> i & 1) - 1 : state >> i & 1; };
      double e = p.offset;
      for (int i = 0; i < 3; ++i) e += p.linear[static_cast<std::size_t>(i)] * v(i);
      for (const Coupling& c : p.pairs) e += c.weight * v(c.i) * v(c.j);
      return e;
    };
    EXPECT_NEAR(energy(bits), energy(spins), 1e-14);
    EXPECT_NEAR(energy(again), energy(spins), 1e-14);
  }
}

TEST(PairProblem, RepeatedPairs) {
  EXPECT_FALSE(first_repeated(std::vector<Coupling>{{0, 1, 1}, {1, 2, 1}, {0, 2, 1}}));
  EXPECT_EQ(first_repeated(std::vector<Coupling>{{2, 1, 1}, {0, 1, 1}, {1, 2, 1}, {0, 1, 1}}), 2u);
  std::vector<Coupling> pairs = {{2, 1, 1}, {0, 1, 5}, {1, 2, 0.5}};
  add_up(pairs);
  ASSERT_EQ(pairs.size(), 2u);
  EXPECT_EQ(pairs[0].weight, 5);
  EXPECT_EQ(pairs[1].weight, 1.5);
  EXPECT_EQ(pairs[1].i, 1);
}

TEST(ProblemFormats, AreToldApart) {
  const auto name = [](const std::string& file, const std::string& text) {
    ByteSource source = source_of(text);
    source.name = file;
    const ProblemFormat* format = format_of(source, {});
    return format ? std::string(format->name) : "json";
  };
  EXPECT_EQ(name("a/b.MC", "3 1"), "rudy");
  EXPECT_EQ(name("G22.gz", "3 1"), "rudy");
  EXPECT_EQ(name("x.sparse", "3 1"), "bq");
  EXPECT_EQ(name("x", "c note\np qubo 0 1 0 0"), "qubo");
  EXPECT_EQ(name("x", "c note\np edge 3 0"), "dimacs");
  EXPECT_EQ(name("x.mc", "DIMODBQM"), "bqm");
  EXPECT_EQ(name("x.txt", " {\"model\": \"ising\"}"), "json");
  EXPECT_EQ(name("x.txt", "{\"version\": {\"bqm_schema\": \"3.0.0\"}}"), "dimod-json");
  EXPECT_THROW(name("x", "3 1\n"), DataError);
  EXPECT_THROW(name("x", "hello"), DataError);
  EXPECT_THROW(name("x.mc", "BZh9"), DataError);
}

}  // namespace
