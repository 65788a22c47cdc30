// Factor graphs in files: read, written, and refused in words.
#include <gtest/gtest.h>

#include <filesystem>

#include "factor_models.hpp"
#include "saltus/core/error.hpp"
#include "saltus/io/model_file.hpp"
#include "saltus/target/factors.hpp"

namespace saltus {
namespace {

const FactorsModel& factors_of(const Model& model) {
  return std::get<FactorsModel>(model.value);
}

void expect_same(const FactorsModel& a, const FactorsModel& b) {
  EXPECT_EQ(a.levels, b.levels);
  EXPECT_EQ(a.constant, b.constant);
  EXPECT_EQ(a.scopes, b.scopes);
  EXPECT_EQ(a.scope_begin, b.scope_begin);
  EXPECT_EQ(a.entries, b.entries);
  EXPECT_EQ(a.entry_begin, b.entry_begin);
  EXPECT_EQ(a.literals, b.literals);
  EXPECT_EQ(a.clause_begin, b.clause_begin);
  EXPECT_EQ(a.weights, b.weights);
}

TEST(FactorsFile, ReadsTablesAndClauses) {
  const Model model = parse_model(kMixedFactors, "mixed");
  const FactorsModel& m = factors_of(model);
  EXPECT_EQ(m.levels, (std::vector{2, 3, 2, 2}));
  EXPECT_EQ(m.tables(), 4u);
  EXPECT_EQ(m.clauses(), 2u);
  EXPECT_EQ(m.constant, -0.5);
  EXPECT_EQ(m.table(3)[5], kMinusInfinity);
  EXPECT_EQ(m.weights, (std::vector{1.5, -kMinusInfinity}));
  EXPECT_EQ(m.clause(0)[1].coordinate, 1);
  EXPECT_EQ(m.clause(0)[1].level, 2);
}

TEST(FactorsFile, WritesWhatItReads) {
  const auto file = std::filesystem::temp_directory_path() / "saltus-factors-test.json";
  for (unsigned seed = 1; seed <= 20; ++seed) {
    const FactorsModel m = random_factors(seed, 7, 15, 4, 0.2);
    write_model(file, m);
    expect_same(factors_of(read_model(file.string())), m);
  }
  FactorsModel none;  // no factor at all
  none.levels = {2, 1, 3};
  write_model(file, none);
  expect_same(factors_of(read_model(file.string())), none);
  std::filesystem::remove(file);
}

// A change of one part of the file, and what the message must name.
TEST(FactorsFile, RefusesInWords) {
  const struct {
    const char *levels, *factors;
    std::vector<const char*> words;
  } cases[] = {
      {"[]", "[]", {"levels", "empty"}},
      {"[1, 1]", "[]", {"levels", "one level"}},
      {"[2, 0]", "[]", {"levels[1]", "is 0"}},
      {"[2, 65537]", "[]", {"levels[1]", "65537"}},
      {"2", "[]", {"levels", "not a list"}},
      {"[2, 2]", "3", {"factors", "not a list"}},
      {"[2, 2]", "[7]", {"factors[0]", "not an object"}},
      {"[2, 2]", R"([{"over": [0]}])", {"factors[0]", "over and log"}},
      {"[2, 2]", R"([{"over": [0], "log": [0, 1], "weight": 1}])", {"factors[0]"}},
      {"[2, 2]", R"([{"over": [2], "log": [0, 1]}])", {"factors[0].over[0]", "is 2"}},
      {"[2, 2]", R"([{"over": [1, 1], "log": [0, 1, 0, 1]}])", {"factors[0].over", "twice"}},
      {"[2, 2]", R"([{"over": [0, 1], "log": [0, 1, 2]}])", {"factors[0].log", "3", "4"}},
      {"[2, 2]", R"([{"over": [], "log": []}])", {"factors[0].log", "0", "1"}},
      {"[2, 2]", R"([{"over": [0], "log": [0, "inf"]}])", {"factors[0].log[1]", "inf"}},
      {"[2, 2]", R"([{"over": [0], "log": [0, null]}])", {"factors[0].log[1]", "null"}},
      {"[2, 2]", R"([{"over": [0], "log": [0, 1e31]}])", {"factors[0].log[1]", "1e+31"}},
      {"[2, 2]", R"([{"over": [0], "log": ["-inf", "-inf"]}])", {"factors[0].log", "forbids"}},
      {"[2, 2]", R"([{"clause": [[0, 2]], "weight": 1}])", {"factors[0].clause[0][1]", "is 2"}},
      {"[2, 2]", R"([{"clause": [[0]], "weight": 1}])", {"factors[0].clause[0]", "pair"}},
      {"[2, 2]", R"([{"clause": [[0, 1]], "weight": -1}])", {"factors[0].weight", "-1"}},
      {"[2, 2]", R"([{"clause": [[0, 1]], "hard": false}])", {"factors[0].hard", "not true"}},
      {"[2, 2]", R"([{"clause": [], "hard": true}])", {"factors[0].clause", "empty"}},
      {"[65536, 65536]", R"([{"over": [0, 1], "log": []}])", {"factors[0].over", "4294967296"}},
  };
  for (const auto& c : cases) {
    const std::string text = std::string(R"({"model": "factors", "levels": )") + c.levels +
                             R"(, "factors": )" + c.factors + "}";
    SCOPED_TRACE(text);
    try {
      parse_model(text, "file.json");
      ADD_FAILURE() << "was read";
    } catch (const DataError& e) {
      const std::string message = e.what();
      EXPECT_NE(message.find("file.json"), std::string::npos) << message;
      for (const char* word : c.words) {
        EXPECT_NE(message.find(word), std::string::npos) << message;
      }
    }
  }
  EXPECT_THROW(parse_model(R"({"model": "factors", "levels": [2], "factors": [], "b": 1})", "f"),
               DataError);
  EXPECT_THROW(
      parse_model(R"({"model": "factors", "levels": [2], "factors": [], "constant": "1"})", "f"),
      DataError);
}

}  // namespace
}  // namespace saltus
